import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ChunkDecoder, type ChunkDecoderOptions } from '../../../src/objects/s3/chunk-decoder.ts';
import { ChunkEncoder } from '../../../src/objects/s3/chunk-encoder.ts';
import { S3Error } from '../../../src/objects/s3/error.ts';
import { refusal } from './refusals.ts';

const test = suite('chunk decoder');
const unsigned = { signed: false, trailer: true } satisfies ChunkDecoderOptions;

function decode(pieces: readonly Buffer[], options: ChunkDecoderOptions = unsigned) {
  const decoder = new ChunkDecoder(options);
  const data = pieces.flatMap((piece) => decoder.push(piece));
  decoder.end();
  return { data: Buffer.concat(data), trailers: Object.fromEntries(decoder.trailers) };
}

const wire = (text: string) => [Buffer.from(text, 'latin1')];
const trailer = 'x-amz-checksum-crc32:AAAAAA==';
const good = `5\r\nhello\r\nC\r\n, wide world\r\n0\r\n${trailer}\r\n\r\n`;

test('gives the data and the trailers', () => {
  const { data, trailers } = decode(wire(good), { ...unsigned, decodedLength: 17 });
  assert.is(data.toString(), 'hello, wide world');
  assert.equal(trailers, { 'x-amz-checksum-crc32': 'AAAAAA==' });
});

test('split at every byte, and byte by byte, it gives the same', () => {
  const whole = Buffer.from(good);
  for (let at = 0; at <= whole.length; at++) {
    const { data, trailers } = decode([whole.subarray(0, at), whole.subarray(at)]);
    assert.is(data.toString(), 'hello, wide world', `cut at ${at}`);
    assert.is(trailers['x-amz-checksum-crc32'], 'AAAAAA==', `cut at ${at}`);
  }
  const single = decode(Array.from(whole, (_byte, at) => whole.subarray(at, at + 1)));
  assert.is(single.data.toString(), 'hello, wide world');
});

test('behind the trailer of a signed body, everything but its signature is IncompleteBody', () => {
  const signature = 'a'.repeat(64);
  const sent = (lines: string) => `0;chunk-signature=${signature}\r\n${lines}\r\n`;
  const refused = (lines: string) =>
    refusal(() => decode(wire(sent(lines)), { signed: true, trailer: true }));
  assert.is(
    decode(wire(sent(`${trailer}\r\nx-amz-trailer-signature:${signature}\r\n`)), {
      signed: true,
      trailer: true,
    }).data.length,
    0,
  );
  assert.is(refused(`${trailer}\r\nx-aminvalid:${signature}\r\n`), 'IncompleteBody');
  assert.is(refused(`${trailer}\r\nx-amz-trailer-signature:a${signature}\r\n`), 'IncompleteBody');
  assert.is(refused(`x-aminvalid:AAAAAA==\r\n`), 'MalformedTrailerError');
});

test('slices share the memory of what was pushed', () => {
  const input = Buffer.from(good);
  const [slice] = new ChunkDecoder(unsigned).push(input);
  assert.is(slice?.buffer, input.buffer);
  assert.is(slice?.byteOffset, input.byteOffset + 3);
});

test('many small chunks come in few pieces, in order', () => {
  const text = Array.from({ length: 20_000 }, (_, at) => String.fromCharCode(97 + (at % 26))).join('');
  const input = Buffer.from([...text].map((letter) => `1\r\n${letter}\r\n`).join(''));
  const pieces = new ChunkDecoder(unsigned).push(input);
  assert.ok(pieces.length < 20, `${pieces.length}`);
  assert.is(Buffer.concat(pieces).toString(), text);
});

test('an early end is IncompleteBody wherever it comes', () => {
  const whole = Buffer.from(good);
  for (let at = 0; at < whole.length; at++) {
    assert.is(
      refusal(() => decode([whole.subarray(0, at)])),
      'IncompleteBody',
      `cut at ${at}`,
    );
  }
});

test('a length other than the announced one is IncompleteBody', () => {
  for (const decodedLength of [0, 16, 18]) {
    assert.is(
      refusal(() => decode(wire(good), { ...unsigned, decodedLength })),
      'IncompleteBody',
    );
  }
});

const malformed: Record<string, string> = {
  'an empty size': '\r\nhello\r\n0\r\n\r\n',
  'a sign': '+5\r\nhello\r\n0\r\n\r\n',
  'a prefix': '0x5\r\nhello\r\n0\r\n\r\n',
  'a blank': ' 5\r\nhello\r\n0\r\n\r\n',
  'nine digits': '000000005\r\nhello\r\n0\r\n\r\n',
  'an unknown extension': '5;name=value\r\nhello\r\n0\r\n\r\n',
  'a signature of the wrong length': '5;chunk-signature=abc\r\nhello\r\n0\r\n\r\n',
  'bare line feeds': '5\nhello\n0\n\n\r\n',
  'another character for the line feed': '5\rXhello\r\n0\r\n\r\n',
  'a carriage return alone': '5\rhello\r\n0\r\n\r\n',
  'data longer than its chunk': '4\r\nhello\r\n0\r\n\r\n',
  'data shorter than its chunk': '6\r\nhello\r\n0\r\n\r\n',
  'bytes after the end': `${good}x`,
  'a second body after the end': `${good}${good}`,
};

for (const [what, text] of Object.entries(malformed)) {
  test(`refuses ${what}`, () => {
    assert.is(
      refusal(() => decode(wire(text))),
      'IncompleteBody',
    );
  });
}

test('bounds the length of a line that never ends', () => {
  const decoder = new ChunkDecoder(unsigned);
  assert.is(
    refusal(() => {
      for (let piece = 0; piece < 100; piece++) decoder.push(Buffer.alloc(100, 'a'));
    }),
    'IncompleteBody',
  );
});

const badTrailers: Record<string, string> = {
  'without a colon': 'x-amz-checksum-crc32',
  'of another family': 'content-type: text/plain',
  'with a broken name': 'x-amz-checksum crc32:AAAAAA==',
  'given twice': `${trailer}\r\n${trailer}`,
  'too many': Array.from({ length: 17 }, (_, at) => `x-amz-meta-${at}:1`).join('\r\n'),
};

for (const [what, lines] of Object.entries(badTrailers)) {
  test(`refuses trailers ${what}`, () => {
    assert.is(
      refusal(() => decode(wire(`0\r\n${lines}\r\n\r\n`))),
      'MalformedTrailerError',
    );
  });
}

test('refuses trailers that were not announced', () => {
  assert.is(
    refusal(() => decode(wire(good), { signed: false, trailer: false })),
    'MalformedTrailerError',
  );
});

test('takes a line feed before the end of a trailer line, as minio-go sends it', () => {
  const { trailers } = decode(wire(`0\r\n${trailer}\n\r\n\r\n`));
  assert.equal(trailers, { 'x-amz-checksum-crc32': 'AAAAAA==' });
});

test('refuses a signed body whose chunks are not signed', () => {
  assert.is(
    refusal(() => decode(wire(good), { signed: true, trailer: true })),
    'IncompleteBody',
  );
});

test('tells the observer every chunk with its signature and data', () => {
  const seen: unknown[] = [];
  const signature = 'ab'.repeat(32);
  const body = `3;chunk-signature=${signature}\r\nabc\r\n0;chunk-signature=${signature}\r\n\r\n`;
  decode(wire(body), {
    signed: true,
    trailer: false,
    observer: {
      chunkStart: (size, given) => seen.push(['start', size, given]),
      chunkData: (data) => seen.push(['data', data.toString()]),
      chunkEnd: () => seen.push(['end']),
      trailers: () => seen.push(['trailers']),
    },
  });
  const start = (size: number) => ['start', size, signature];
  assert.equal(seen, [start(3), ['data', 'abc'], ['end'], start(0), ['end']]);
});

const pieces = fc.array(fc.uint8Array({ minLength: 1, maxLength: 300 }), { maxLength: 8 });

test('reads back whatever the encoder writes, cut anywhere', () => {
  fc.assert(
    fc.property(pieces, fc.array(fc.nat(2000), { maxLength: 6 }), (chunks, cuts) => {
      const encoder = new ChunkEncoder();
      const data = chunks.map((chunk) => Buffer.from(chunk));
      const frames = data.flatMap((chunk) => [encoder.header([chunk]), chunk]);
      const body = Buffer.concat([...frames, encoder.end([['x-amz-checksum-crc32', 'AAAAAA==']])]);
      const plain = Buffer.concat(data);
      const places = [0, ...cuts.map((cut) => Math.min(cut, body.length)), body.length].sort((a, b) => a - b);
      const parts = places.slice(1).map((end, index) => body.subarray(places[index], end));
      const decoded = decode(parts, { ...unsigned, decodedLength: plain.length });
      assert.ok(decoded.data.equals(plain));
      assert.is(decoded.trailers['x-amz-checksum-crc32'], 'AAAAAA==');
    }),
  );
});

test('whatever comes, the answer is data or an S3 error', () => {
  const noise = fc.array(
    fc.oneof(
      fc.constantFrom(
        '\r\n',
        '0',
        '5',
        'hello',
        ';chunk-signature=',
        'ab'.repeat(32),
        trailer,
        '\n',
        '\r',
        'ffffffff',
      ),
      fc.string({ maxLength: 5 }),
    ),
    { maxLength: 20 },
  );
  fc.assert(
    fc.property(noise, fc.boolean(), fc.boolean(), (texts, signed, withTrailer) => {
      const body = Buffer.from(texts.join(''), 'latin1');
      try {
        const { data } = decode([body], { signed, trailer: withTrailer });
        assert.ok(data.length <= body.length);
      } catch (error) {
        assert.instance(error, S3Error);
      }
    }),
    { numRuns: 2000 },
  );
});

test('after so many chunks the rest of an input is left for the next time', () => {
  const decoder = new ChunkDecoder({ signed: false, trailer: false });
  const input = Buffer.from('1\r\na\r\n2\r\nbc\r\n1\r\nd\r\n0\r\n\r\n');
  assert.is(Buffer.concat(decoder.push(input, 2)).toString(), 'abc');
  assert.is(decoder.rest.toString(), '1\r\nd\r\n0\r\n\r\n');
  assert.is(Buffer.concat(decoder.push(decoder.rest, 2)).toString(), 'd');
  assert.equal([decoder.rest.length, decoder.done, decoder.chunks], [0, true, 4]);
});

test.run();
