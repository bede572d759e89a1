import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { encryptPart } from '../../../src/objects/multipart/upload-part.ts';
import type { UploadRecord } from '../../../src/objects/multipart/upload-record.ts';
import { s3Error } from '../../../src/objects/s3/error.ts';
import { createUpstream, type UpstreamConfig } from '../../../src/objects/upstream/s3-upstream.ts';
import { frameBytes } from '../../../src/objects/upstream/streamed-upload.ts';
import type { Upstream } from '../../../src/objects/upstream/upstream.ts';
import { encryptToStore } from '../../../src/objects/write/encrypt-to-store.ts';
import { objectHeaders } from '../../../src/objects/write/put-object.ts';
import { startMinio } from '../../support/minio.ts';
import { storeKinds } from '../../support/repetitions.ts';
import type { ObjectStore } from '../../support/types.ts';
import { startVersityGw } from '../../support/versitygw.ts';
import { wrapped } from '../parts.ts';
import { quiet, rejection } from '../upstream/support.ts';
import { MiB, pieces, source, type TestContext, writeContext } from './support.ts';

const Bucket = 'bucket';
const minio = { MinIO: () => startMinio(), 'MinIO over TLS': () => startMinio({ tls: true }) };
const stores = {
  versitygw: () => startVersityGw(),
  'versitygw over TLS': () => startVersityGw({ tls: true }),
  'versitygw with kept connections': () => startVersityGw({ keepAlive: true }),
  ...(storeKinds.includes('minio') && minio),
};
const forms = (['signed', 'unsigned'] as const).flatMap((upstreamSigning) =>
  (['crc32', 'none'] as const).map((upstreamChecksum) => ({ upstreamSigning, upstreamChecksum })),
);
type Form = (typeof forms)[number];
/** Over TLS, and with kept connections: each signing and each checksum once. */
const formsOf = (title: string): readonly Form[] =>
  / /.test(title)
    ? forms.filter(
        ({ upstreamSigning, upstreamChecksum }) =>
          (upstreamSigning === 'signed') === (upstreamChecksum === 'crc32'),
      )
    : forms;
const label = ({ upstreamSigning, upstreamChecksum }: Form) => `${upstreamSigning}, ${upstreamChecksum}`;

/** An upstream that is `store`, and a context that writes to it. */
function upstreamTo(store: ObjectStore, form?: Form): { upstream: Upstream; context: TestContext } {
  const config: UpstreamConfig = {
    upstream: new URL(store.endpoint),
    region: store.region,
    upstreamSigning: 'auto',
    upstreamChecksum: 'crc32',
    ...form,
  };
  const ca = store.caFile && readFileSync(store.caFile, 'utf8');
  const upstream = createUpstream(config, quiet, { credentials: () => store, ca });
  return { upstream, context: writeContext(upstream, form) };
}

const target = (key: string, headers: Record<string, string> = {}) => ({
  method: 'PUT',
  bucket: Bucket,
  key,
  headers,
});

const uploadOf = (key: string, uploadId: string): UploadRecord => ({
  ...{ bucket: Bucket, key, uploadId, manifest: 'm'.repeat(22), keyName: 'svc', keyVersion: 3 },
  ...{ seal: wrapped(3), binding: 'key', userMetadata: 0, repeat: {} },
});

function encrypt(context: TestContext, key: string, body: AsyncIterable<Buffer>, length: number | undefined) {
  return encryptToStore(context, {
    name: { bucket: Bucket, key },
    purpose: { kind: 'object' },
    source: body,
    length,
    request: (wrapped) =>
      target(key, objectHeaders({ 'x-amz-meta-colour': 'blue' }, wrapped, context.keys.scheme)),
  });
}

/** versitygw answers and closes while a large body is under way: the reset may overtake its answer. */
const mayAnswer = (status: number, length: number): unknown[] => (length < MiB ? [status] : [status, 503]);

async function storedBytes({ client }: ObjectStore, Key: string): Promise<Buffer> {
  const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
  return Buffer.from((await Body?.transformToByteArray()) ?? []);
}

async function keysOf({ client }: ObjectStore): Promise<string[]> {
  const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket }));
  return Contents.map(({ Key = '' }) => Key);
}

for (const [title, start] of Object.entries(stores)) {
  const test = suite<{ store: ObjectStore }>(`writing to ${title}`);

  test.before(async (context) => {
    context.store = await start();
    await context.store.createBucket(Bucket);
  });
  test.after(async ({ store }) => {
    await store?.stop();
  });

  for (const form of formsOf(title)) {
    test(`the store holds nonce, ciphertext and tag (${label(form)})`, async ({ store }) => {
      const { upstream, context } = upstreamTo(store, form);
      for (const length of [0, 5, 64 * 1024, 64 * 1024 + 1, frameBytes - 28, 3 * MiB + 1]) {
        const plaintext = randomBytes(length);
        const key = `w/ä +&%?=é/${length}`;
        for (const known of [length, undefined]) {
          const result = await encrypt(context, key, source(pieces(plaintext)), known);
          const stored = await storedBytes(store, key);
          assert.is(stored.length, length + 28);
          assert.ok(context.keys.open(result.dek, stored).equals(plaintext));
          const head = await store.client.send(new HeadObjectCommand({ Bucket, Key: key }));
          assert.is(head.ETag, `"${result.etag}"`);
          assert.is(head.Metadata?.['svc-wrapped-dek'], result.dek);
          assert.is(head.Metadata?.['colour'], 'blue');
          assert.is(head.ContentEncoding, undefined);
        }
      }
      upstream.close();
    });

    test(`a body given up leaves nothing, wherever it stops (${label(form)})`, async ({ store }) => {
      const { upstream, context } = upstreamTo(store, form);
      const before = randomBytes(1_000);
      const length = 2 * MiB;
      await store.client.send(new PutObjectCommand({ Bucket, Key: 'old', Body: before }));
      const known = await keysOf(store);
      const bad = s3Error('BadDigest');
      for (const stop of [0, 1, 65536, frameBytes, frameBytes + 1, MiB, length - 1, length]) {
        for (const key of ['new', 'old']) {
          const body = source(pieces(randomBytes(length).subarray(0, stop)), bad);
          assert.is(await rejection(encrypt(context, key, body, length)), bad, `${key} at ${stop}`);
        }
      }
      upstream.close();
      await settled(store);
      assert.equal(await keysOf(store), known);
      assert.ok((await storedBytes(store, 'old')).equals(before));
    });
  }

  test('a part holds its own nonce, ciphertext and tag', async ({ store }) => {
    const { upstream, context } = upstreamTo(store);
    const { CompleteMultipartUploadCommand, CreateMultipartUploadCommand } = await import(
      '@aws-sdk/client-s3'
    );
    const Key = 'parts';
    const create = { Bucket, Key, ChecksumAlgorithm: 'CRC32', ChecksumType: 'FULL_OBJECT' } as const;
    const { UploadId = '' } = await store.client.send(new CreateMultipartUploadCommand(create));
    const plaintexts = [randomBytes(5 * MiB), randomBytes(100)];
    const parts = [];
    for (const [index, plaintext] of plaintexts.entries()) {
      parts.push(
        await encryptPart(context, {
          record: uploadOf(Key, UploadId),
          number: index + 1,
          source: source(pieces(plaintext)),
          length: plaintext.length,
          checksums: () => new Map(),
          headers: { 'x-amz-checksum-crc32': 'of-plaintext', 'content-md5': 'of-plaintext' },
        }),
      );
    }
    const Parts = parts.map(({ etag, entry, checksum }) => ({
      ETag: `"${etag}"`,
      PartNumber: entry.n,
      ChecksumCRC32: checksum,
    }));
    const complete = { Bucket, Key, UploadId, MultipartUpload: { Parts } };
    await store.client.send(new CompleteMultipartUploadCommand(complete));
    const stored = await storedBytes(store, Key);
    let from = 0;
    for (const [index, { entry, answer }] of parts.entries()) {
      if ('salt' in entry) throw new Error('a part of format 2');
      const body = stored.subarray(from, from + entry.size + 28);
      assert.ok(context.keys.open(entry.dek, body).equals(plaintexts[index] as Buffer));
      assert.is(entry.nonce, body.subarray(0, 12).toString('base64'));
      assert.match(answer['etag'] ?? '', /^"[0-9a-f]{32}-svc"$/);
      from += body.length;
    }
    assert.is(from, stored.length);
    upstream.close();
  });

  test("the store's refusals come through, early or not", async ({ store }) => {
    const { upstream, context } = upstreamTo(store);
    for (const length of [5, 8 * MiB]) {
      const failed = encryptToStore(context, {
        name: { bucket: 'missing', key: 'k' },
        purpose: { kind: 'object' },
        source: source(pieces(randomBytes(length))),
        length,
        request: () => ({ method: 'PUT', bucket: 'missing-bucket', key: 'k' }),
      });
      const { status } = await rejection(failed);
      assert.ok(mayAnswer(404, length).includes(status), `${status} for ${length} bytes`);
    }
    upstream.close();
  });

  test('a condition that does not hold keeps the object', async ({ store }) => {
    const { upstream, context } = upstreamTo(store);
    await store.client.send(new PutObjectCommand({ Bucket, Key: 'there', Body: 'first' }));
    for (const length of [5, 2 * MiB]) {
      const failed = encryptToStore(context, {
        name: { bucket: Bucket, key: 'there' },
        purpose: { kind: 'object' },
        source: source(pieces(randomBytes(length))),
        length,
        request: () => target('there', { 'if-none-match': '*' }),
      });
      const { status } = await rejection(failed);
      assert.ok(mayAnswer(412, length).includes(status), `${status} for ${length} bytes`);
    }
    assert.is((await storedBytes(store, 'there')).toString(), 'first');
    upstream.close();
  });

  test('sixteen uploads at a time are all whole', async ({ store }) => {
    const { upstream, context } = upstreamTo(store);
    const plaintext = randomBytes(2 * MiB + 1);
    const results = await Promise.all(
      Array.from({ length: 16 }, (_, index) =>
        encrypt(context, `many/${index}`, source(pieces(plaintext)), plaintext.length),
      ),
    );
    for (const [index, { dek }] of results.entries()) {
      assert.ok(context.keys.open(dek, await storedBytes(store, `many/${index}`)).equals(plaintext));
    }
    upstream.close();
  });

  test.run();
}

/** A write after the others, so that what they may have left behind is there by now. */
async function settled({ client }: ObjectStore): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 300));
  await client.send(new ListObjectsV2Command({ Bucket }));
}
