import { randomBytes } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import {
  CompleteMultipartUploadCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutObjectCommand,
  type S3Client,
  type S3ServiceException,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { streamingUnsignedTrailer, unsignedPayload } from '../../../../src/objects/s3/sigv4-sign.ts';
import { folderCatalog, memoryCatalog } from '../../../../src/plugins/dev/servers.ts';
import type { Catalog } from '../../../../src/plugins/dev/store/catalog.ts';
import { type ObjectStore, startObjectStore } from '../../../../src/plugins/dev/store/object-store.ts';
import { rejection } from '../../../keyserver/rejection.ts';
import { s3Client } from '../../../support/object-store.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { quietLog } from '../quiet-log.ts';
import { signedHead } from './signed-head.ts';

const test = suite('development store');
const Bucket = 'box';

interface Around {
  readonly store: ObjectStore;
  readonly s3: S3Client;
  readonly events: string[];
}

async function withStore(catalog: Catalog, use: (around: Around) => Promise<void>): Promise<void> {
  const events: string[] = [];
  const store = await startObjectStore(catalog, quietLog(events));
  const s3 = await s3Client({ ...store, endpoint: store.url, region: 'us-east-1' });
  try {
    await s3.send(new CreateBucketCommand({ Bucket }));
    await use({ store, s3, events });
    assert.equal(events, []);
  } finally {
    s3.destroy();
    await store.close();
  }
}

async function read(s3: S3Client, Key: string): Promise<Buffer> {
  const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }));
  return Buffer.from((await Body?.transformToByteArray()) ?? []);
}

const put = (s3: S3Client, Key: string, Body: Buffer | string) =>
  s3.send(new PutObjectCommand({ Bucket, Key, Body }));

async function failure(
  request: Promise<unknown>,
): Promise<{ name: string; message: string; status: number }> {
  const { name, message, $metadata } = (await rejection(request)) as S3ServiceException;
  return { name, message, status: $metadata.httpStatusCode ?? 0 };
}

/** Sends bytes on a connection of its own; `end` closes it behind them. */
function sendRaw(store: ObjectStore, text: string, end: boolean): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(Number(new URL(store.url).port), '127.0.0.1', () =>
      end ? socket.end(text) : socket.write(text),
    );
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      answer += chunk;
      if (answer.includes('\r\n\r\n')) socket.end();
    });
    socket.on('error', () => undefined).on('close', () => resolve(answer));
  });
}

test('a body that is cut leaves what was there', async () => {
  await withStore(memoryCatalog(), async ({ store, s3 }) => {
    await put(s3, 'kept', 'good');
    const plain = signedHead(store, `/${Bucket}/kept`, unsignedPayload, { 'content-length': '100' });
    await sendRaw(store, `${plain}only a part`, true);
    const framed = signedHead(store, `/${Bucket}/kept`, streamingUnsignedTrailer, {
      'content-length': '100',
      'x-amz-decoded-content-length': '50',
      'x-amz-trailer': 'x-amz-checksum-crc32',
    });
    await sendRaw(store, `${framed}32\r\nonly a part`, true);
    assert.is((await read(s3, 'kept')).toString(), 'good');
  });
});

test('a trailer that does not fit the body is answered with BadDigest, and nothing is stored', async () => {
  await withStore(memoryCatalog(), async ({ store, s3 }) => {
    const body = '4\r\nbody\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n';
    const head = signedHead(store, `/${Bucket}/new`, streamingUnsignedTrailer, {
      'content-length': String(body.length),
      'x-amz-decoded-content-length': '4',
      'x-amz-trailer': 'x-amz-checksum-crc32',
    });
    assert.match(await sendRaw(store, head + body, false), /^HTTP\/1\.1 400 [\s\S]*<Code>BadDigest<\/Code>/);
    assert.is((await failure(read(s3, 'new'))).name, 'NoSuchKey');
  });
});

test('memory has a bound that is said, and what is deleted or refused gives it back', async () => {
  await withStore(memoryCatalog(1024 * 1024), async ({ s3 }) => {
    await put(s3, 'half', randomBytes(600_000));
    for (let times = 0; times < 3; times++) {
      const { name, message, status } = await failure(put(s3, 'more', randomBytes(600_000)));
      assert.equal([name, status], ['EntityTooLarge', 400]);
      assert.match(message, /at most 1MiB in memory.*--data/);
    }
    await put(s3, 'small', randomBytes(400_000));
    await s3.send(new DeleteObjectCommand({ Bucket, Key: 'half' }));
    await put(s3, 'more', randomBytes(600_000));
  });
});

test('looking needs no signature, shows the bytes as they are, and changes nothing', async () => {
  await withStore(memoryCatalog(), async ({ store, s3 }) => {
    const body = randomBytes(1000);
    await s3.send(
      new PutObjectCommand({ Bucket, Key: 'a/ä b', Body: body, Metadata: { 'svc-encrypted': 'true' } }),
    );
    const seen = await fetch(`${store.peekUrl}/${Bucket}/a/%C3%A4%20b`);
    assert.is(seen.headers.get('x-amz-meta-svc-encrypted'), 'true');
    assert.ok(Buffer.from(await seen.arrayBuffer()).equals(body));
    const unsigned = [
      fetch(`${store.peekUrl}/${Bucket}/a`, { method: 'PUT', body: 'x' }),
      fetch(`${store.peekUrl}/${Bucket}/a/%C3%A4%20b`, { method: 'DELETE' }),
      fetch(`${store.url}/${Bucket}/a/%C3%A4%20b`),
    ];
    for (const { status } of await Promise.all(unsigned)) assert.ok(status === 400 || status === 403);
    assert.is((await read(s3, 'a/ä b')).length, 1000);
  });
});

test('is not modified since its own time', async () => {
  await withStore(memoryCatalog(), async ({ s3 }) => {
    await put(s3, 'timed', 'x');
    const { LastModified } = await s3.send(new HeadObjectCommand({ Bucket, Key: 'timed' }));
    const since = new GetObjectCommand({ Bucket, Key: 'timed', IfModifiedSince: LastModified });
    assert.is((await failure(s3.send(since))).status, 304);
  });
});

test('each object is listed as its only version', async () => {
  await withStore(memoryCatalog(), async ({ s3 }) => {
    await put(s3, 'one', 'x');
    await put(s3, 'one', 'y');
    const { Versions } = await s3.send(new ListObjectVersionsCommand({ Bucket }));
    assert.equal(
      Versions?.map(({ Key, VersionId, IsLatest }) => ({ Key, VersionId, IsLatest })),
      [{ Key: 'one', VersionId: 'null', IsLatest: true }],
    );
    const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key: 'one', VersionId: 'null' }));
    assert.is(await Body?.transformToString(), 'y');
  });
});

test('open uploads are listed page by page', async () => {
  await withStore(memoryCatalog(), async ({ s3 }) => {
    for (const Key of ['b', 'a', 'a', 'd/1', 'd/2'])
      await s3.send(new CreateMultipartUploadCommand({ Bucket, Key }));
    const seen: unknown[] = [];
    let from: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } = {};
    for (let more = true; more; ) {
      const page = await s3.send(
        new ListMultipartUploadsCommand({ Bucket, MaxUploads: 1, Delimiter: '/', ...from }),
      );
      seen.push(...(page.Uploads ?? []).map(({ Key }) => Key), ...(page.CommonPrefixes ?? []));
      from = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker };
      more = page.IsTruncated ?? false;
    }
    assert.equal(seen, ['a', 'a', 'b', { Prefix: 'd/' }]);
  });
});

test('an answer in progress is not disturbed by an overwrite', async () => {
  const folder = temporaryFolder('dev-store');
  await withStore(folderCatalog(folder.path), async ({ s3 }) => {
    const body = randomBytes(8 * 1024 * 1024);
    await put(s3, 'large', body);
    const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key: 'large' }));
    await put(s3, 'large', 'small');
    assert.ok(Buffer.from((await Body?.transformToByteArray()) ?? []).equals(body));
    assert.is((await read(s3, 'large')).toString(), 'small');
    assert.is(readdirSync(join(folder.path, 'blobs')).length, 1);
  });
  await folder.remove();
});

test('objects of any key, and open uploads, outlive the server in its folder', async () => {
  const folder = temporaryFolder('dev-store');
  const keys = [
    'plain',
    '.hidden',
    'a//b',
    '日本/\u{1f600}',
    `long/${'x'.repeat(1000)}`,
    'con',
    '-rf',
    'empty',
  ];
  const upload = { Bucket, Key: 'parts', UploadId: '' };
  const Parts: { PartNumber: number; ETag: string | undefined }[] = [];
  await withStore(folderCatalog(folder.path), async ({ s3 }) => {
    for (const key of keys) await put(s3, key, key === 'empty' ? '' : key);
    const begun = await s3.send(new CreateMultipartUploadCommand({ Bucket, Key: 'parts' }));
    upload.UploadId = begun.UploadId ?? '';
    const { ETag } = await s3.send(new UploadPartCommand({ ...upload, PartNumber: 1, Body: 'part' }));
    Parts.push({ PartNumber: 1, ETag });
  });
  writeFileSync(join(folder.path, 'blobs', `${'0'.repeat(32)}.part`), 'left by a crash');
  writeFileSync(join(folder.path, 'blobs', '1'.repeat(32)), 'left by a crash');
  writeFileSync(join(folder.path, 'blobs', 'not ours'), 'kept');
  await withStore(folderCatalog(folder.path), async ({ s3 }) => {
    const { Contents } = await s3.send(new ListObjectsV2Command({ Bucket }));
    assert.equal(new Set(Contents?.map(({ Key }) => Key)), new Set(keys));
    for (const key of keys) assert.is((await read(s3, key)).toString(), key === 'empty' ? '' : key);
    await s3.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }));
    assert.is((await read(s3, 'parts')).toString(), 'part');
    const files = readdirSync(join(folder.path, 'blobs'));
    assert.is(files.length, keys.length + 1);
    assert.ok(files.includes('not ours'));
    for (const key of [...keys, 'parts']) await s3.send(new DeleteObjectCommand({ Bucket, Key: key }));
    assert.equal(readdirSync(join(folder.path, 'blobs')), ['not ours']);
    assert.is(readdirSync(join(folder.path, 'records')).length, 1);
  });
  await folder.remove();
});

test.run();
