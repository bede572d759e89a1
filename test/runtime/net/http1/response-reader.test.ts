import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ResponseReader } from '../../../../src/runtime/net/http1.ts';
import { HttpError } from '../../../../src/runtime/net/http1-chunked-body.ts';
import { plainSink } from './plain-sink.ts';

const responses = suite('HTTP answers as bytes');

const bounds = { maxHead: 512, maxBody: 1000 };
const crlf = (text: string): string => text.replaceAll('\n', '\r\n');

interface Read {
  readonly status: number | undefined;
  readonly keepAlive: boolean | undefined;
  readonly body: string;
  readonly done: boolean;
  readonly rest: string;
}

/** Reads an answer given in pieces; `ended` for a connection that ends behind them. */
function read(pieces: readonly Uint8Array[], ended = false): Read {
  const sink = plainSink();
  const reader = new ResponseReader(sink, bounds);
  let rest = Buffer.alloc(0);
  for (const each of pieces) {
    // the reader moves data within what it is given, and a test gives the same bytes more than once
    const piece = Buffer.from(each);
    const taken = reader.push(piece);
    if (taken < piece.length) assert.ok(reader.done);
    rest = Buffer.concat([rest, piece.subarray(taken)]);
  }
  if (ended) reader.end();
  return {
    status: reader.head?.status,
    keepAlive: reader.head?.keepAlive,
    body: Buffer.from(sink.bytes).toString('latin1'),
    done: reader.done,
    rest: rest.toString('latin1'),
  };
}

const whole = (text: string, ended = false): Read => read([Buffer.from(text, 'latin1')], ended);

const samples = {
  length: crlf('HTTP/1.1 200 OK\nContent-Length: 11\nX: y\n\nhello world'),
  empty: crlf('HTTP/1.1 503\nContent-Length: 0\n\n'),
  noContent: crlf('HTTP/1.1 204 No Content\n\n'),
  chunked: crlf('HTTP/1.1 200 OK\nTransfer-Encoding: Chunked\n\n5\nhello\n6 ;x="y"\n world\n0\n\n'),
  trailers: crlf('HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\nB;e\nhello world\n00\nA: b\nC: d\n\n'),
  interim: crlf(
    'HTTP/1.1 100 Continue\n\nHTTP/1.1 103 Early\nLink: x\n\nHTTP/1.1 200 OK\nContent-Length: 2\n\nok',
  ),
};

const bodies: Record<keyof typeof samples, string> = {
  length: 'hello world',
  empty: '',
  noContent: '',
  chunked: 'hello world',
  trailers: 'hello world',
  interim: 'ok',
};

for (const [name, text] of Object.entries(samples) as [keyof typeof samples, string][]) {
  responses(`${name}: the same wherever it is split`, () => {
    const expected = { ...whole(text), rest: 'next' };
    assert.is(expected.body, bodies[name]);
    assert.ok(expected.done && expected.keepAlive);
    const bytes = Buffer.from(`${text}next`, 'latin1');
    for (let at = 0; at <= bytes.length; at++) {
      assert.equal(read([bytes.subarray(0, at), bytes.subarray(at)]), expected, `${at}`);
    }
    assert.equal(read([...bytes].map((byte) => Uint8Array.of(byte))), expected);
  });

  responses(`${name}: incomplete wherever it is cut`, () => {
    const bytes = Buffer.from(text, 'latin1');
    for (let length = 0; length < bytes.length; length++) {
      assert.throws(() => read([bytes.subarray(0, length)], true), isHttpError, `${length}`);
    }
    assert.ok(read([bytes], true).done);
  });
}

const isHttpError = (error: unknown) => error instanceof HttpError;

responses('chunks of one byte are taken together', () => {
  const pieces: number[] = [];
  const reader = new ResponseReader({ ...plainSink(), append: ({ length }) => pieces.push(length) }, bounds);
  const head = crlf('HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n');
  reader.push(Buffer.from(`${head}${'1\r\nx\r\n'.repeat(900)}`));
  assert.equal(pieces, [900]);
});

responses('any body in any chunks in any pieces', () => {
  const chunk = fc.uint8Array({ minLength: 1, maxLength: 40 });
  const cuts = fc.array(fc.nat(400), { maxLength: 10 });
  fc.assert(
    fc.property(fc.array(chunk, { maxLength: 6 }), cuts, (chunks, places) => {
      const framed = chunks.flatMap((part) => [`${part.length.toString(16)}\r\n`, part, '\r\n']);
      const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
      const bytes = Buffer.concat([head, ...framed, '0\r\n\r\n'].map((part) => Buffer.from(part as string)));
      const borders = [0, ...places.map((place) => Math.min(place, bytes.length)), bytes.length];
      borders.sort((one, other) => one - other);
      const pieces = borders.slice(1).map((border, index) => bytes.subarray(borders[index], border));
      const { body, done } = read(pieces);
      assert.ok(done);
      assert.is(body, Buffer.concat(chunks).toString('latin1'));
    }),
  );
});

responses('a body that ends with the connection', () => {
  const text = crlf('HTTP/1.1 200 OK\nContent-Type: text/plain\n\nhello');
  assert.is(whole(text).done, false);
  assert.equal(whole(text, true), { status: 200, keepAlive: false, body: 'hello', done: true, rest: '' });
});

responses('who keeps the connection', () => {
  const keeps = (version: string, connection: string) =>
    whole(crlf(`HTTP/${version} 200 OK\n${connection}Content-Length: 0\n\n`)).keepAlive;
  assert.is(keeps('1.1', ''), true);
  assert.is(keeps('1.1', 'Connection: x, Close\n'), false);
  assert.is(keeps('1.0', ''), false);
  assert.is(keeps('1.0', 'Connection: Keep-Alive\n'), true);
});

const refused: Record<string, string> = {
  'another protocol': 'SSH-2.0-x\n\n',
  'another version': 'HTTP/2 200 OK\n\n',
  'no status': 'HTTP/1.1 OK\n\n',
  'a status of four digits': 'HTTP/1.1 2000 OK\n\n',
  'another protocol from here on': 'HTTP/1.1 101 Switching Protocols\nUpgrade: h2c\n\n',
  'a header without a colon': 'HTTP/1.1 200 OK\nContent-Length 5\n\n',
  'a blank before the colon': 'HTTP/1.1 200 OK\nContent-Length : 5\n\n',
  'a folded header': 'HTTP/1.1 200 OK\nA: b\n c\nContent-Length: 0\n\n',
  'a control character': 'HTTP/1.1 200 OK\nA: \u0000\n\n',
  'two lengths': 'HTTP/1.1 200 OK\nContent-Length: 5\nContent-Length: 6\n\n',
  'the same length twice': 'HTTP/1.1 200 OK\nContent-Length: 5\nContent-Length: 5\n\n',
  'a list of equal lengths': 'HTTP/1.1 200 OK\nContent-Length: 5, 5\n\n',
  'a list of lengths where no body follows': 'HTTP/1.1 304 Not Modified\nContent-Length: 5, 5\n\n',
  'chunked twice': 'HTTP/1.1 200 OK\nTransfer-Encoding: chunked\nTransfer-Encoding: chunked\n\n',
  'an empty transfer coding': 'HTTP/1.1 200 OK\nTransfer-Encoding:\nContent-Length: 5\n\n',
  'an empty length': 'HTTP/1.1 200 OK\nContent-Length:\n\n',
  'a signed length': 'HTTP/1.1 200 OK\nContent-Length: +5\n\n',
  'a length and chunks': 'HTTP/1.1 200 OK\nContent-Length: 5\nTransfer-Encoding: chunked\n\n',
  'another transfer coding': 'HTTP/1.1 200 OK\nTransfer-Encoding: gzip, chunked\n\n',
  'chunks inside chunks': 'HTTP/1.1 200 OK\nTransfer-Encoding: chunked, chunked\n\n',
  'a content coding': 'HTTP/1.1 200 OK\nContent-Encoding: gzip\nContent-Length: 5\n\n',
  'a length above the bound': 'HTTP/1.1 200 OK\nContent-Length: 1001\n\n',
  'a chunk above the bound': 'HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n3E9\n',
  'a chunk without a size': 'HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n;x\n',
  'a negative chunk': 'HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n-1\n',
  'a chunk size of nine digits': 'HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n000000001\n',
  'a chunk that is longer than it says': 'HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n1\nab\n',
  'an endless extension': `HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n1;${'x'.repeat(600)}`,
  'endless trailers': `HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n0\n${'a: b\n'.repeat(200)}`,
  'an endless head': `HTTP/1.1 200 OK\n${'a: b\n'.repeat(100)}`,
  'endless interim answers': 'HTTP/1.1 100 Continue\n\n'.repeat(30),
};

for (const [name, text] of Object.entries(refused)) {
  responses(`refuses ${name}`, () => {
    assert.throws(() => whole(crlf(text)), isHttpError);
  });
}

responses('refuses line feeds alone', () => {
  assert.throws(() => whole('HTTP/1.1 200 OK\nContent-Length: 2\n\nok', true), isHttpError);
  assert.throws(() => whole('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\nok'), isHttpError);
});

responses('a body without an end is bounded', () => {
  assert.throws(() => whole(`HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(1001)}`), isHttpError);
  const tenChunks = `${'64\r\n'}${'x'.repeat(100)}\r\n`.repeat(10);
  const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
  assert.is(whole(`${head}${tenChunks}0\r\n\r\n`).body.length, 1000);
  assert.throws(() => whole(`${head}${tenChunks}1\r\nx`), isHttpError);
});

const blanks = fc.constantFrom('', ' ', '\t', ' \t ');
const casing = (text: string) => fc.constantFrom(text, text.toLowerCase(), text.toUpperCase());
const wrongLength = fc.oneof(
  fc.tuple(fc.constantFrom('+', '-', '0x', '.', '1e', ' ', '"'), fc.nat()).map(([sign, n]) => `0${sign}${n}`),
  fc.nat().map((n) => `+${n}`),
  fc.nat().map((n) => `-${n}`),
  fc.nat().map((n) => `${n};`),
  fc.nat().map((n) => `${n}a`),
  fc.stringMatching(/^[1-9][0-9]{15,40}$/),
  fc.array(fc.constantFrom('5', '5', '6', ''), { minLength: 2, maxLength: 4 }).map((list) => list.join(', ')),
  fc.constant(''),
);
const wrongCoding = fc.constantFrom(
  ...['', 'identity', 'gzip', 'chunked, chunked', 'chunked,', ', chunked', 'gzip, chunked', 'chunked, gzip'],
  ...['chunked;q=1', '"chunked"', 'xchunked', 'chunkedx', 'chunk ed'],
);

responses('only one plain number, or `chunked` alone, tells the end of a body', () => {
  const line = (name: string, value: fc.Arbitrary<string>) =>
    fc
      .tuple(casing(name), blanks, value, blanks)
      .map(([key, before, text, after]) => `${key}:${before}${text}${after}`);
  const length = (value: fc.Arbitrary<string>) => line('Content-Length', value);
  const coding = (value: fc.Arbitrary<string>) => line('Transfer-Encoding', value);
  const goodLength = length(fc.nat(1000).map(String));
  const goodCoding = coding(casing('chunked'));
  const wrong = fc.oneof(
    fc.tuple(length(wrongLength)),
    fc.tuple(coding(wrongCoding)),
    fc.tuple(goodLength, goodLength),
    fc.tuple(goodCoding, goodCoding),
    fc.tuple(goodLength, goodCoding),
    fc.tuple(goodCoding, goodLength),
    fc.tuple(length(fc.constant('5')), length(fc.constant('5')), length(fc.constant('5'))),
    fc.tuple(coding(wrongCoding), goodLength),
  );
  const head = (lines: readonly string[]) =>
    `HTTP/1.1 200 OK\r\nX: y\r\n${lines.map((one) => `${one}\r\n`).join('')}\r\n`;
  fc.assert(
    fc.property(wrong, (lines) => assert.throws(() => whole(head(lines)), isHttpError)),
    { numRuns: 500 },
  );
  fc.assert(
    fc.property(fc.oneof(goodLength, goodCoding), (one) => assert.is(whole(head([one])).status, 200)),
  );
});

responses('has a bound on the number of headers, each of which takes far more than its bytes', () => {
  const names = (count: number) => Array.from({ length: count }, (_, at) => `a${at}:`);
  const push = (count: number) => {
    const head = ['HTTP/1.1 200 OK', ...names(count), '', ''].join('\r\n');
    new ResponseReader(plainSink(), { maxHead: 64 * 1024, maxBody: 0 }).push(Buffer.from(head));
  };
  push(256);
  assert.throws(() => push(257), /more than 256 headers/);
});

responses.run();
