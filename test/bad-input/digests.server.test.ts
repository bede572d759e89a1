import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { chunked, chunkedHeaders } from './support/chunks.ts';
import { againstProxy } from './support/target.ts';

const test = suite('digests that are not those of the body');
const target = againstProxy(test);
const sizes = [1000, 3 * 1024 * 1024];

/** Bytes of each digest. */
const lengths = { crc32: 4, crc32c: 4, crc64nvme: 8, sha1: 20, sha256: 32 } as const;
const names = Object.keys(lengths) as (keyof typeof lengths)[];
const header = (name: string) => `x-amz-checksum-${name}`;
const wrong = (bytes: number) => randomBytes(bytes).toString('base64');
const md5 = (data: Buffer) => createHash('md5').update(data).digest('base64');
const crcOf = (data: Buffer) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(data));
  return bytes.toString('base64');
};

for (const size of sizes) {
  test(`a wrong Content-MD5, ${size} bytes`, async () => {
    const body = randomBytes(size);
    const send = (value: string) => target.at.sendEverywhere({ body, headers: { 'content-md5': value } });
    assert.is(await send(md5(randomBytes(1))), '400 BadDigest');
    for (const malformed of ['nonsense', wrong(15), wrong(17), '', `${md5(body)}=`])
      assert.is(await send(malformed), '400 InvalidDigest', malformed);
  });

  test(`a wrong literal x-amz-content-sha256, ${size} bytes`, async () => {
    const headers = { 'x-amz-content-sha256': randomBytes(32).toString('hex') };
    const answer = await target.at.sendEverywhere({ body: randomBytes(size), headers });
    assert.is(answer, '400 XAmzContentSHA256Mismatch');
  });

  test(`a wrong x-amz-checksum-* in the head, ${size} bytes`, async () => {
    const body = randomBytes(size);
    for (const name of names) {
      const send = (value: string) => target.at.sendEverywhere({ body, headers: { [header(name)]: value } });
      assert.is(await send(wrong(lengths[name])), '400 BadDigest', name);
      for (const malformed of ['!', '', wrong(lengths[name] + 1)])
        assert.is(await send(malformed), '400 InvalidRequest', `${name}: ${malformed}`);
    }
  });

  test(`a wrong x-amz-checksum-* in the trailer, ${size} bytes`, async () => {
    const data = randomBytes(size);
    for (const name of names) {
      const headers = chunkedHeaders(size, header(name));
      const send = (...lines: string[]) => target.at.sendEverywhere({ body: chunked(data, lines), headers });
      assert.is(await send(`${header(name)}:${wrong(lengths[name])}`), '400 BadDigest', name);
      assert.match(await send(), /^400 [A-Za-z]+$/, `${name} missing`);
      assert.match(await send(`${header(name)}:!`), /^400 [A-Za-z]+$/, `${name} malformed`);
    }
  });

  test(`a right checksum beside a wrong one does not help, ${size} bytes`, async () => {
    const body = randomBytes(size);
    const right = { [header('crc32')]: crcOf(body) };
    const md5Wrong = { ...right, 'content-md5': md5(randomBytes(1)) };
    assert.is(await target.at.sendEverywhere({ body, headers: md5Wrong }), '400 BadDigest');
    const shaWrong = { ...right, 'x-amz-content-sha256': randomBytes(32).toString('hex') };
    assert.is(await target.at.sendEverywhere({ body, headers: shaWrong }), '400 XAmzContentSHA256Mismatch');
    const twoOfThem = { ...right, [header('sha256')]: wrong(32) };
    assert.is(await target.at.sendEverywhere({ body, headers: twoOfThem }), '400 InvalidRequest');
  });
}

test('a checksum nobody knows is not taken for checked', async () => {
  for (const headers of [
    { 'x-amz-checksum-md4': 'AAAA' },
    { 'x-amz-checksum-__proto__': 'AAAA' },
    chunkedHeaders(10, 'x-amz-checksum-md4'),
    { 'x-amz-trailer': header('crc32') },
  ]) {
    const answer = await target.at.sendEverywhere({ body: chunked(randomBytes(10)), headers });
    assert.is(answer, '400 InvalidRequest', JSON.stringify(headers));
  }
});

test('a body of unknown length is checked too', async () => {
  const body = randomBytes(3 * 1024 * 1024);
  const headers = { 'transfer-encoding': 'chunked', [header('crc32')]: wrong(4) };
  assert.is(await target.at.sendEverywhere({ body, headers }), '400 BadDigest');
});

test('what was refused is taken once its checksum is right', async () => {
  const { send } = target.at;
  const body = randomBytes(1000);
  assert.is(await send('right', { body, headers: { [header('crc32')]: wrong(4) } }), '400 BadDigest');
  const right = { [header('crc32')]: crcOf(body), 'content-md5': md5(body) };
  assert.is(await send('right', { body, headers: right }), '200 undefined');
  assert.is(await send('right', { method: 'DELETE' }), '204 undefined');
});

test.run();
