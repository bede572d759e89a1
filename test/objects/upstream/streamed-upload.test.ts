import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ChunkDecoder } from '../../../src/objects/s3/chunk-decoder.ts';
import { ChunkSignatureVerifier } from '../../../src/objects/s3/chunk-encoder.ts';
import { signingKey } from '../../../src/objects/s3/sigv4-sign.ts';
import {
  bodyForm,
  frameBytes,
  framingHeaders,
  StreamedUpload,
} from '../../../src/objects/upstream/streamed-upload.ts';
import type { UpstreamResponse } from '../../../src/objects/upstream/upstream.ts';
import type { UpstreamExchange } from '../../../src/objects/upstream/upstream-exchange.ts';
import { rejection } from './support.ts';

const test = suite('streamed upload');

const chunks = {
  signingKey: signingKey('secret', { date: '20260101', region: 'us-east-1', service: 's3' }),
  timestamp: '20260101T000000Z',
  scope: '20260101/us-east-1/s3/aws4_request',
  seed: '0'.repeat(64),
};

/** Keeps what is sent; buffers are overwritten afterwards, as the pool may do. */
class Recorder implements UpstreamExchange {
  readonly response = new Promise<never>(() => undefined);
  readonly agreed = Promise.resolve();
  readonly stale = false;
  readonly sent: Buffer[] = [];
  resets = 0;
  ended = false;

  async write(buffer: Uint8Array): Promise<void> {
    this.sent.push(Buffer.from(buffer));
    buffer.fill(0xee);
  }
  end(buffers: readonly Uint8Array[]): void {
    for (const buffer of buffers) this.sent.push(Buffer.from(buffer));
    this.ended = true;
  }
  reset(): void {
    this.resets += 1;
  }
}

const stored = { status: 200, headers: {}, body: undefined } as unknown as UpstreamResponse;

type Signing = 'signed' | 'unsigned';
type Checksum = 'crc32' | 'none';

function start(length: number, upstreamSigning: Signing, upstreamChecksum: Checksum) {
  const form = bodyForm({ upstream: new URL('http://store'), upstreamSigning, upstreamChecksum });
  const wire = new Recorder();
  const plan = {
    length,
    framing: form.framing,
    chunks,
    answer: async () => stored,
    failed: (e: unknown) => e,
  };
  return { form, wire, upload: new StreamedUpload(wire, plan) };
}

const pattern = Uint8Array.from(
  { length: 2 * frameBytes + 7 },
  (_, index) => (index * 31 + (index >> 8)) & 0xff,
);
const body = (length: number) => Buffer.from(pattern.subarray(0, length));

async function sendInPieces(upload: StreamedUpload, data: Buffer, cuts: readonly number[]): Promise<void> {
  let from = 0;
  for (const cut of [...cuts, data.length].sort((a, b) => a - b)) {
    if (cut <= from) continue;
    const piece = Buffer.from(data.subarray(from, cut));
    await upload.write(piece);
    piece.fill(0xdd);
    from = cut;
  }
  await upload.finish(new Uint8Array(0));
}

test('what is sent decodes to what was written, with the length and trailers announced', async () => {
  const lengths = fc.oneof(
    fc.integer({ min: 1, max: 5_000 }),
    fc.constantFrom(frameBytes - 1, frameBytes, frameBytes + 1, 2 * frameBytes, 2 * frameBytes + 7),
  );
  const cuts = fc.array(fc.integer({ min: 0, max: 2 * frameBytes + 7 }), { maxLength: 20 });
  const property = fc.asyncProperty(
    lengths,
    cuts,
    fc.boolean(),
    fc.boolean(),
    async (length, at, signed, trailer) => {
      const data = body(length);
      const { form, wire, upload } = start(
        length,
        signed ? 'signed' : 'unsigned',
        trailer ? 'crc32' : 'none',
      );
      await sendInPieces(
        upload,
        data,
        at.map((cut) => Math.min(cut, length)),
      );
      const raw = Buffer.concat(wire.sent);
      assert.is(String(raw.length), framingHeaders(form, length)['content-length']);
      if (!form.framing) return assert.ok(raw.equals(data));
      const observer = signed ? new ChunkSignatureVerifier(chunks) : undefined;
      const decoder = new ChunkDecoder({ signed, trailer, decodedLength: length, observer });
      assert.ok(Buffer.concat(decoder.push(raw)).equals(data));
      decoder.end();
      const checksum = Buffer.alloc(4);
      checksum.writeUInt32BE(crc32(data));
      assert.is(
        decoder.trailers.get('x-amz-checksum-crc32'),
        trailer ? checksum.toString('base64') : undefined,
      );
    },
  );
  await fc.assert(property, { numRuns: 60 });
});

test('the last frame stays until the end, in every form', async () => {
  for (const signing of ['signed', 'unsigned'] as const) {
    for (const checksum of ['crc32', 'none'] as const) {
      const { wire, upload } = start(2 * frameBytes, signing, checksum);
      await upload.write(body(2 * frameBytes));
      const sent = Buffer.concat(wire.sent).length;
      assert.ok(sent >= frameBytes && sent < frameBytes + 200, `${signing} ${checksum}: ${sent} bytes`);
    }
  }
});

test('more bytes than announced reset the connection', async () => {
  const { wire, upload } = start(10, 'unsigned', 'crc32');
  assert.instance(await rejection(upload.write(body(11))), RangeError);
  assert.is(wire.resets, 1);
});

test('fewer bytes than announced reset the connection instead of ending the body', async () => {
  const { wire, upload } = start(10, 'unsigned', 'none');
  assert.instance(await rejection(upload.finish(body(9))), RangeError);
  assert.is(wire.resets, 1);
  assert.not(wire.ended);
});

test.run();
