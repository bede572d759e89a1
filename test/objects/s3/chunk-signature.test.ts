import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ChunkDecoder } from '../../../src/objects/s3/chunk-decoder.ts';
import {
  ChunkEncoder,
  ChunkSignatureVerifier,
  ChunkSigner,
  encodedLength,
  type Framing,
} from '../../../src/objects/s3/chunk-encoder.ts';
import { scopeText, signingKey } from '../../../src/objects/s3/sigv4-sign.ts';
import { refusal } from './refusals.ts';

const test = suite('chunk signatures');

/** The S3 manual's example: 65 KiB of "a" in chunks of 64 KiB. */
const scope = { date: '20130524', region: 'us-east-1', service: 's3' };
const manual = {
  signingKey: signingKey('wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', scope),
  timestamp: '20130524T000000Z',
  scope: scopeText(scope),
  seed: '4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9',
};
const first = Buffer.alloc(65536, 'a');
const second = Buffer.alloc(1024, 'a');

test("signs the manual's chunks as the manual does", () => {
  const signer = new ChunkSigner(manual);
  assert.is(signer.chunk([first]), 'ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648');
  assert.is(signer.chunk([second]), '0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497');
  assert.is(signer.chunk([]), 'b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9');
});

test("signs the manual's trailer as the manual does", () => {
  const seed = 'e05ab64fe1dfdbf0b5870abbaabdb063c371d4e96f2767e6934d90529c5ae850';
  const signature = new ChunkSigner({ ...manual, seed }).trailers([['x-amz-checksum-crc32c', 'wdBDMA==']]);
  assert.is(signature, '41e14ac611e27a8bb3d66c3bad6856f209297767d5dd4fc87d8fa9e422e03faf');
});

test('data in several pieces is signed as one', () => {
  const pieces = [first.subarray(0, 10), first.subarray(10)];
  assert.is(new ChunkSigner(manual).chunk(pieces), new ChunkSigner(manual).chunk([first]));
});

const crc32 = { name: 'x-amz-checksum-crc32', valueLength: 8 };

function encode(length: number, framing: Framing): Buffer {
  const encoder = new ChunkEncoder(framing.signed ? new ChunkSigner(manual) : undefined);
  const frames: Buffer[] = [];
  for (let at = 0; at < length; at += framing.chunkSize) {
    const data = Buffer.alloc(Math.min(framing.chunkSize, length - at), 'a');
    frames.push(encoder.header([data]), data);
  }
  frames.push(encoder.end(framing.trailers.map(({ name }) => [name, 'AAAAAA=='])));
  return Buffer.concat(frames);
}

test("the manual's body has the manual's Content-Length", () => {
  const framing = { chunkSize: 65536, signed: true, trailers: [] };
  assert.is(encodedLength(66560, framing), 66824);
  assert.is(encode(66560, framing).length, 66824);
});

for (const signed of [true, false]) {
  for (const trailers of [[], [crc32]]) {
    test(`the length is known in advance: signed ${signed}, ${trailers.length} trailers`, () => {
      const framing = { chunkSize: 16, signed, trailers };
      for (const length of [0, 1, 15, 16, 17, 31, 32, 33, 160, 161]) {
        assert.is(encodedLength(length, framing), encode(length, framing).length, `length ${length}`);
      }
    });
  }
}

function verify(body: Buffer, trailer: boolean) {
  const observer = new ChunkSignatureVerifier(manual);
  const decoder = new ChunkDecoder({ signed: true, trailer, observer });
  decoder.push(body);
  decoder.end();
}

test('a body that was signed verifies, with and without trailers', () => {
  verify(encode(100, { chunkSize: 16, signed: true, trailers: [] }), false);
  verify(encode(100, { chunkSize: 16, signed: true, trailers: [crc32] }), true);
});

test('any byte of data, of a signature or of a trailer that changes is noticed', () => {
  const body = encode(40, { chunkSize: 16, signed: true, trailers: [crc32] });
  const text = body.toString('latin1');
  for (const at of [text.indexOf('aaaa'), text.lastIndexOf('aaaa'), text.indexOf('AAAAAA==')]) {
    const forged = Buffer.from(body);
    forged[at] = 'b'.charCodeAt(0);
    assert.is(
      refusal(() => verify(forged, true)),
      'SignatureDoesNotMatch',
      `at ${at}`,
    );
  }
  const digit = text.indexOf('chunk-signature=') + 20;
  const forged = Buffer.from(body);
  forged[digit] = forged[digit] === 0x30 ? 0x31 : 0x30;
  assert.is(
    refusal(() => verify(forged, true)),
    'SignatureDoesNotMatch',
  );
});

test('chunks in another order, and a missing trailer signature, are noticed', () => {
  const encoder = new ChunkEncoder(new ChunkSigner(manual));
  const [one, two] = [Buffer.from('one'), Buffer.from('two')];
  const [a, b] = [encoder.header([one]), encoder.header([two]).subarray(2)];
  const crlf = Buffer.from('\r\n');
  const swapped = Buffer.concat([b, two, crlf, a, one, encoder.end()]);
  assert.is(
    refusal(() => verify(swapped, false)),
    'SignatureDoesNotMatch',
  );
  const stripped = encode(3, { chunkSize: 16, signed: true, trailers: [crc32] })
    .toString('latin1')
    .replace(/x-amz-trailer-signature:.{64}\r\n/, '');
  assert.is(
    refusal(() => verify(Buffer.from(stripped, 'latin1'), true)),
    'SignatureDoesNotMatch',
  );
});

test.run();
