import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { maxPlaintextBytes } from '../../../src/objects/format/cipher.ts';
import { s3Error } from '../../../src/objects/s3/error.ts';
import { AnsweredEarly } from '../../../src/objects/upstream/upstream.ts';
import { smallBytes } from '../../../src/objects/write/ciphertext-spool.ts';
import { encryptToStore } from '../../../src/objects/write/encrypt-to-store.ts';
import { rejection } from '../upstream/support.ts';
import { MemoryUpstream, MiB, pieces, planOf, response, source, writeContext } from './support.ts';

const test = suite('encrypting to the store');

const sizes = [0, 1, smallBytes - 29, smallBytes - 28, smallBytes, smallBytes + 1, 300_000];

test('what is stored is nonce, ciphertext and tag of what was sent, its length known or not', async () => {
  const cuts = fc.array(fc.nat(300_000), { maxLength: 12 });
  const property = fc.asyncProperty(
    fc.constantFrom(...sizes),
    cuts,
    fc.boolean(),
    async (size, at, known) => {
      const plaintext = randomBytes(size);
      const bounds = [0, ...at.map((cut) => Math.min(cut, size)).sort((a, b) => a - b), size];
      const chunks = bounds.slice(1).map((end, index) => plaintext.subarray(bounds[index], end));
      const upstream = new MemoryUpstream();
      const context = writeContext(upstream);
      const result = await encryptToStore(context, planOf(source(chunks), known ? size : undefined));
      const stored = upstream.stored as Buffer;
      assert.is(stored.length, size + 28);
      assert.is(result.size, size);
      assert.equal(result.proof, { nonce: stored.subarray(0, 12).toString('base64') });
      assert.is(result.etag, '0123456789abcdef0123456789abcdef');
      assert.ok(context.keys.open(result.dek, stored).equals(plaintext));
      assert.ok(context.keys.allZeroed);
      assert.is(context.spoolSpace.used, 0);
    },
  );
  await fc.assert(property, { numRuns: 80 });
});

test('a small body goes with the checksum of its ciphertext', async () => {
  const upstream = new MemoryUpstream();
  await encryptToStore(writeContext(upstream), planOf(source([Buffer.from('hello')]), 5));
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(upstream.stored as Buffer));
  assert.is(upstream.requests[0]?.headers?.['x-amz-checksum-crc32'], checksum.toString('base64'));
});

test('a store without checksums gets none', async () => {
  const upstream = new MemoryUpstream();
  const context = writeContext(upstream, { upstreamChecksum: 'none' });
  await encryptToStore(context, planOf(source([Buffer.from('hello')]), 5));
  assert.is(upstream.requests[0]?.headers?.['x-amz-checksum-crc32'], undefined);
});

test('a small body that turns out wrong never reaches the store', async () => {
  const upstream = new MemoryUpstream();
  const context = writeContext(upstream);
  const bad = s3Error('BadDigest');
  const failed = encryptToStore(context, planOf(source([Buffer.from('hello')], bad), 5));
  assert.is(await rejection(failed), bad);
  assert.equal(upstream.requests, []);
  assert.ok(context.keys.allZeroed);
});

test('a body of unknown length that turns out wrong never reaches the store', async () => {
  const upstream = new MemoryUpstream();
  const context = writeContext(upstream);
  const bad = s3Error('BadDigest');
  const failed = encryptToStore(context, planOf(source(pieces(randomBytes(MiB)), bad), undefined));
  assert.is(await rejection(failed), bad);
  assert.equal(upstream.requests, []);
  assert.is(context.spoolSpace.used, 0);
});

test('a large body that turns out wrong at its very end is given up', async () => {
  const upstream = new MemoryUpstream();
  const context = writeContext(upstream);
  const bad = s3Error('BadDigest');
  const failed = encryptToStore(context, planOf(source(pieces(randomBytes(MiB)), bad), MiB));
  assert.is(await rejection(failed), bad);
  assert.is(upstream.aborts, 1);
  assert.is(upstream.stored, undefined);
  assert.ok(context.keys.allZeroed);
});

test('a source of another length than announced stores nothing', async () => {
  for (const [size, length] of [
    [5, 6],
    [6, 5],
    [MiB, MiB + 1],
    [MiB + 1, MiB],
  ] as const) {
    const upstream = new MemoryUpstream();
    const failed = encryptToStore(writeContext(upstream), planOf(source(pieces(randomBytes(size))), length));
    assert.is((await rejection(failed)).code, 'IncompleteBody');
    assert.is(upstream.stored, undefined);
  }
});

test('while the key server fails, the store hears nothing', async () => {
  for (const length of [5, MiB, undefined]) {
    const upstream = new MemoryUpstream();
    const context = writeContext(upstream);
    context.keys.failure = new Error('sealed');
    const failed = encryptToStore(context, planOf(source(pieces(randomBytes(length ?? 5))), length));
    assert.is((await rejection(failed)).message, 'sealed');
    assert.equal(upstream.requests, []);
  }
});

test('a plaintext that no store takes is refused before anything is read or wrapped', async () => {
  const upstream = new MemoryUpstream();
  const context = writeContext(upstream);
  const untouched = {
    [Symbol.asyncIterator]: () => {
      throw new Error('the body was read');
    },
  };
  const failed = encryptToStore(context, planOf(untouched, maxPlaintextBytes + 1));
  assert.is((await rejection(failed)).code, 'EntityTooLarge');
  assert.equal(context.keys.given, []);
});

test('a refusal that comes early is the answer, and the source is read no further', async () => {
  const upstream = new MemoryUpstream();
  upstream.writeFailure = new AnsweredEarly();
  upstream.answer = () => response(507, {}, '<Error><Code>InsufficientStorage</Code></Error>');
  let read = 0;
  async function* counted() {
    for (; read < 100; read += 1) yield Buffer.alloc(65536);
  }
  const error = await rejection(encryptToStore(writeContext(upstream), planOf(counted(), 100 * 65536)));
  assert.is(error.code, 'InsufficientStorage');
  assert.is(error.status, 507);
  assert.is(read, 0);
});

test("the store's own refusal comes through", async () => {
  const upstream = new MemoryUpstream();
  upstream.answer = () => response(412, {}, '<Error><Code>PreconditionFailed</Code></Error>');
  const error = await rejection(encryptToStore(writeContext(upstream), planOf(source([]), 0)));
  assert.is(error.code, 'PreconditionFailed');
  assert.is(error.status, 412);
});

test("damage between proxy and store is no fault of the caller's", async () => {
  const upstream = new MemoryUpstream();
  upstream.answer = () => response(400, {}, '<Error><Code>BadDigest</Code></Error>');
  const error = await rejection(encryptToStore(writeContext(upstream), planOf(source([]), 0)));
  assert.is(error.code, 'ServiceUnavailable');
  assert.is((error.cause as { code: string }).code, 'BadDigest');
});

test('an answer without an ETag is no success', async () => {
  const upstream = new MemoryUpstream();
  upstream.answer = () => response(200, {});
  const error = await rejection(encryptToStore(writeContext(upstream), planOf(source([]), 0)));
  assert.is(error.code, 'InternalError');
});

test('what the request refuses comes before any data', async () => {
  for (const length of [5, MiB, undefined]) {
    const upstream = new MemoryUpstream();
    const context = writeContext(upstream);
    const plan = planOf(source(pieces(randomBytes(length ?? 5))), length, () => {
      throw s3Error('MetadataTooLarge');
    });
    assert.is((await rejection(encryptToStore(context, plan))).code, 'MetadataTooLarge');
    assert.equal(upstream.requests, []);
    assert.ok(context.keys.allZeroed);
  }
});

test.run();
