import { randomBytes } from 'node:crypto';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { chunk, chunked, chunkedHeaders } from './support/chunks.ts';
import { againstProxy } from './support/target.ts';

const test = suite('malformed aws-chunked bodies');
const target = againstProxy(test);

/** One travels whole, one in a stream. */
const sizes = [1000, 3 * 1024 * 1024];
const end = Buffer.from('0\r\n\r\n');
const line = (text: string) => Buffer.from(text);

type Case = readonly [label: string, body: (data: Buffer) => Buffer, answer: string];

const cases: readonly Case[] = [
  ['no framing at all', (data) => Buffer.concat([line('zz\r\n'), data]), '400 IncompleteBody'],
  ['negative size', (data) => Buffer.concat([line('-1\r\n'), chunked(data)]), '400 IncompleteBody'],
  ['a size with 0x', (data) => Buffer.concat([line('0x10\r\n'), chunked(data)]), '400 IncompleteBody'],
  ['an empty size', (data) => Buffer.concat([line('\r\n'), chunked(data)]), '400 IncompleteBody'],
  ['a size of nine digits', (data) => Buffer.concat([line('fffffffff\r\n'), data]), '400 IncompleteBody'],
  ['a size line that does not end', (data) => Buffer.alloc(data.length + 9000, 'a'), '400 IncompleteBody'],
  [
    'an extension nobody knows',
    (data) => Buffer.concat([line(`${data.length.toString(16)};a=b\r\n`), data, line('\r\n'), end]),
    '400 IncompleteBody',
  ],
  [
    'a chunk longer than its size',
    (data) =>
      Buffer.concat([line(`${(data.length - 1).toString(16)}\r\n`), data, line('\r\n'), chunk(data), end]),
    '400 IncompleteBody',
  ],
  [
    'a chunk shorter than its size',
    (data) => Buffer.concat([line(`${data.length.toString(16)}\r\n`), data.subarray(1), line('\r\n'), end]),
    '400 IncompleteBody',
  ],
  ['a bare line feed', (data) => Buffer.concat([line('1\n'), chunked(data)]), '400 IncompleteBody'],
  ['no last chunk', (data) => chunk(data), '400 IncompleteBody'],
  ['no blank line at the end', (data) => chunked(data).subarray(0, -2), '400 IncompleteBody'],
  ['an end before its time', (data) => Buffer.concat([end, chunked(data)]), '400 IncompleteBody'],
  ['bytes after the end', (data) => Buffer.concat([chunked(data), line('x')]), '400 IncompleteBody'],
  ['a second body', (data) => Buffer.concat([chunked(data), chunked(data)]), '400 IncompleteBody'],
  ['a trailer that is no header', (data) => chunked(data, ['nonsense']), '400 MalformedTrailerError'],
  ['a trailer nobody announced', (data) => chunked(data, ['x-amz-meta-a:b']), '400 MalformedTrailerError'],
];

for (const size of sizes)
  test(`broken framing is refused, ${size} bytes`, async () => {
    const data = randomBytes(size);
    for (const [label, body, answer] of cases) {
      const call = { body: body(data), headers: chunkedHeaders(size) };
      assert.is(await target.at.sendEverywhere(call), answer, label);
    }
  });

for (const size of sizes)
  test(`a decoded length that is not that of the body is refused, ${size} bytes`, async () => {
    const body = chunked(randomBytes(size));
    for (const wrong of [size - 1, size + 1, 0, 2 * size])
      assert.is(
        await target.at.sendEverywhere({ body, headers: chunkedHeaders(wrong) }),
        '400 IncompleteBody',
        `${wrong}`,
      );
    for (const [wrong, answer] of [
      ['-1', '400 IncompleteBody'],
      ['many', '411 MissingContentLength'],
      ['1e3', '411 MissingContentLength'],
      ['', '411 MissingContentLength'],
      ['9'.repeat(16), '400 EntityTooLarge'],
    ] as const)
      assert.is(await target.at.sendEverywhere({ body, headers: chunkedHeaders(wrong) }), answer, wrong);
    const beyond = { body, headers: chunkedHeaders(6 * 1024 ** 3) };
    assert.is(await target.at.sendEverywhere(beyond), '400 EntityTooLarge');
  });

test('a payload that is announced in a way nobody knows is refused', async () => {
  const body = randomBytes(100);
  for (const [announced, answer] of [
    ['STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD', '501 NotImplemented'],
    ['STREAMING-NONSENSE', '501 NotImplemented'],
    ['unsigned-payload', '400 InvalidArgument'],
    ['abc', '400 InvalidArgument'],
    ['g'.repeat(64), '400 InvalidArgument'],
  ] as const) {
    const call = { body, headers: { 'x-amz-content-sha256': announced } };
    assert.is(await target.at.sendEverywhere(call), answer, announced);
  }
});

test('signed chunks that carry no signature are refused where nobody checks them too', async () => {
  const headers = { ...chunkedHeaders(1000), 'x-amz-content-sha256': 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD' };
  const answer = await target.at.sendEverywhere({ body: chunked(randomBytes(1000)), headers });
  assert.is(answer, '400 IncompleteBody');
});

test.run();
