import { randomBytes } from 'node:crypto';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  ListPartsCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { s3Client } from '../../support/object-store.ts';
import { startOpenBao } from '../../support/openbao.ts';
import { startSvcProxy } from '../../support/svc-proxy.ts';
import type { ObjectStore, OpenBao, SvcProxy } from '../../support/types.ts';
import { startVersityGw } from '../../support/versitygw.ts';

const test = suite('the life of a multipart upload');
const mib = 1024 * 1024;
const Bucket = 'plain';

let bao: OpenBao;
let store: ObjectStore;
let proxy: SvcProxy;
let other: SvcProxy;
let token: string;
let s3: S3Client;
let viaOther: S3Client;

test.before(async () => {
  [bao, store] = await Promise.all([startOpenBao(), startVersityGw({ versioning: true })]);
  await bao.enableTransit();
  token = await bao.policyToken();
  await store.createBucket(Bucket);
  await store.createBucket('versions', { versioning: true });
  await store.createBucket('state');
  const config = { upstream: store, vault: { addr: bao.url, token } };
  proxy = await startSvcProxy(config);
  other = await startSvcProxy(config);
  s3 = await s3Client(proxy.target);
  viaOther = await s3Client(other.target);
});

test.after(async () => {
  s3?.destroy();
  viaOther?.destroy();
  await Promise.all([proxy?.stop(), other?.stop()]);
  await Promise.all([store?.stop(), bao?.stop()]);
});

interface Uploaded {
  readonly Key: string;
  readonly UploadId: string;
  readonly body: Buffer;
  readonly parts: { PartNumber: number; ETag: string }[];
}

async function begin(client: S3Client, Key: string, bucket = Bucket): Promise<string> {
  const { UploadId = '' } = await client.send(
    new CreateMultipartUploadCommand({
      Bucket: bucket,
      Key,
      ContentType: 'text/x-test',
      Metadata: { owner: 'a b' },
    }),
  );
  return UploadId;
}

async function put(
  client: S3Client,
  Key: string,
  UploadId: string,
  PartNumber: number,
  Body: Buffer,
  bucket = Bucket,
) {
  const { ETag = '' } = await client.send(
    new UploadPartCommand({ Bucket: bucket, Key, UploadId, PartNumber, Body }),
  );
  return { PartNumber, ETag };
}

/** Uploads parts of these sizes, numbered with gaps, alternating between the clients. */
async function upload(
  Key: string,
  sizes: readonly number[],
  clients: S3Client[],
  bucket = Bucket,
): Promise<Uploaded> {
  const client = (index: number) => clients[index % clients.length] as S3Client;
  const UploadId = await begin(client(0), Key, bucket);
  const bodies = sizes.map((size) => randomBytes(size));
  const parts = [];
  for (const [index, body] of bodies.entries())
    parts.push(await put(client(index), Key, UploadId, index * 3 + 1, body, bucket));
  return { Key, UploadId, body: Buffer.concat(bodies), parts };
}

const complete = (client: S3Client, { Key, UploadId, parts }: Uploaded, bucket = Bucket) =>
  client.send(
    new CompleteMultipartUploadCommand({ Bucket: bucket, Key, UploadId, MultipartUpload: { Parts: parts } }),
  );

async function content(client: S3Client, Key: string, bucket = Bucket): Promise<Buffer> {
  const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key }));
  return Buffer.from((await Body?.transformToByteArray()) ?? []);
}

async function helperKeys(kind: string, bucket = Bucket): Promise<string[]> {
  const { Contents = [] } = await store.client.send(
    new ListObjectsV2Command({ Bucket: bucket, Prefix: `.svc/${kind}/` }),
  );
  return Contents.map(({ Key = '' }) => Key);
}

async function wrappedDek(Key: string, bucket = Bucket): Promise<Record<string, unknown>> {
  const { Metadata = {} } = await store.client.send(new HeadObjectCommand({ Bucket: bucket, Key }));
  return JSON.parse(Metadata['svc-wrapped-dek'] ?? '');
}

async function code(action: Promise<unknown>): Promise<string> {
  return action.then(
    () => 'none',
    (error: Error) => error.name,
  );
}

test('a small one is completed with its part list in its own header', async () => {
  const uploaded = await upload('inline.bin', [5 * mib, 100], [s3]);
  const done = await complete(s3, uploaded);
  assert.equal(await content(s3, 'inline.bin'), uploaded.body);
  const header = await wrappedDek('inline.bin');
  assert.equal(
    (header.parts as { n: number; size: number }[]).map(({ n, size }) => [n, size]),
    [
      [1, 5 * mib],
      [4, 100],
    ],
  );
  const head = await s3.send(new HeadObjectCommand({ Bucket, Key: 'inline.bin' }));
  assert.is(head.ContentLength, uploaded.body.length);
  assert.is(head.ContentType, 'text/x-test');
  assert.is(head.Metadata?.owner, 'a b');
  assert.is(head.ETag, done.ETag);
});

test('two proxies share one upload, and either completes it', async () => {
  const uploaded = await upload('shared.bin', [5 * mib, 5 * mib, 5 * mib, 1], [s3, viaOther]);
  await complete(viaOther, uploaded);
  assert.equal(await content(s3, 'shared.bin'), uploaded.body);
});

test('a proxy that is killed in the middle of an upload goes on with it', async () => {
  const first = await upload('killed.bin', [5 * mib, 5 * mib], [s3]);
  await proxy.kill('SIGKILL');
  await proxy.restart();
  s3.destroy();
  s3 = await s3Client(proxy.target);
  const last = randomBytes(mib);
  const parts = [...first.parts, await put(s3, 'killed.bin', first.UploadId, 9999, last)];
  await complete(s3, { ...first, parts });
  assert.equal(await content(s3, 'killed.bin'), Buffer.concat([first.body, last]));
});

test('a repeated Complete gives the same answer, through another proxy too', async () => {
  const uploaded = await upload('twice.bin', [5 * mib, 7], [s3]);
  const [one, two] = await Promise.all([complete(s3, uploaded), complete(s3, uploaded)]);
  const three = await complete(viaOther, uploaded);
  assert.is(one.ETag, two.ETag);
  assert.is(one.ETag, three.ETag);
  const [head] = await Promise.all([s3.send(new HeadObjectCommand({ Bucket, Key: 'twice.bin' }))]);
  assert.is(head.ETag, one.ETag);
});

test('a Complete whose done record was lost is told from the object itself', async () => {
  const uploaded = await upload('lost-record.bin', [5 * mib, 7], [s3]);
  const records = await helperKeys('uploads');
  const saved = await Promise.all(
    records.map(async (Key) => {
      const { Body } = await store.client.send(new GetObjectCommand({ Bucket, Key }));
      return { Key, Body: (await Body?.transformToString()) ?? '' };
    }),
  );
  const done = await complete(s3, uploaded);
  const { PutObjectCommand, DeleteObjectCommand } = await import('@aws-sdk/client-s3');
  for (const { Key, Body } of saved) await store.client.send(new PutObjectCommand({ Bucket, Key, Body }));
  for (const Key of (await helperKeys('uploads')).filter((key) => key.endsWith('/done')))
    await store.client.send(new DeleteObjectCommand({ Bucket, Key }));
  assert.is((await complete(viaOther, uploaded)).ETag, done.ETag);
  assert.equal(await content(viaOther, 'lost-record.bin'), uploaded.body);
});

test('a part that was sent twice is the one that Complete names', async () => {
  const UploadId = await begin(s3, 'resent.bin');
  const [older, newer] = [randomBytes(5 * mib), randomBytes(5 * mib)];
  const first = await put(s3, 'resent.bin', UploadId, 1, older);
  const second = await put(s3, 'resent.bin', UploadId, 1, newer);
  const wrong = complete(s3, { Key: 'resent.bin', UploadId, body: older, parts: [first] });
  assert.is(await code(wrong), 'InvalidPart');
  await complete(s3, { Key: 'resent.bin', UploadId, body: newer, parts: [second] });
  assert.equal(await content(s3, 'resent.bin'), newer);
});

test('parts that nobody uploaded, or with another ETag, change nothing', async () => {
  const uploaded = await upload('missing.bin', [5 * mib], [s3]);
  const extra = [...uploaded.parts, { PartNumber: 2, ETag: '"0123456789abcdef0123456789abcdef-svc"' }];
  assert.is(await code(complete(s3, { ...uploaded, parts: extra })), 'InvalidPart');
  assert.is(await code(content(s3, 'missing.bin')), 'NoSuchKey');
  await complete(s3, uploaded);
  assert.equal(await content(s3, 'missing.bin'), uploaded.body);
});

test('ListParts shows plaintext sizes and the ETags that the parts were answered with', async () => {
  const { UploadId, parts } = await upload('listed.bin', [5 * mib, 5 * mib, 3], [s3]);
  const listed = await s3.send(new ListPartsCommand({ Bucket, Key: 'listed.bin', UploadId }));
  assert.equal(
    listed.Parts?.map(({ PartNumber, ETag, Size }) => ({ PartNumber, ETag, Size })),
    parts.map((part, index) => ({ ...part, Size: index === 2 ? 3 : 5 * mib })),
  );
});

test('Abort leaves no record and no upload', async () => {
  const before = await helperKeys('uploads');
  const { UploadId, ...rest } = await upload('aborted.bin', [5 * mib, 5], [s3]);
  await s3.send(new AbortMultipartUploadCommand({ Bucket, Key: 'aborted.bin', UploadId }));
  assert.equal(await helperKeys('uploads'), before);
  assert.is(await code(complete(s3, { UploadId, ...rest })), 'NoSuchUpload');
  assert.is(await code(put(s3, 'aborted.bin', UploadId, 1, Buffer.alloc(5))), 'NoSuchUpload');
});

test('a bucket with versions keeps the manifest, and each version stays readable', async () => {
  const first = await upload('v.bin', [5 * mib, 1], [s3], 'versions');
  const one = await complete(s3, first, 'versions');
  assert.is((await wrappedDek('v.bin', 'versions')).parts, undefined);
  assert.is((await helperKeys('manifests', 'versions')).length, 1);
  const second = await upload('v.bin', [5 * mib, 2], [s3], 'versions');
  await complete(s3, second, 'versions');
  assert.equal(await content(s3, 'v.bin', 'versions'), second.body);
  const { Body } = await s3.send(
    new GetObjectCommand({ Bucket: 'versions', Key: 'v.bin', VersionId: one.VersionId }),
  );
  assert.equal(Buffer.from((await Body?.transformToByteArray()) ?? []), first.body);
});

test('with a state bucket nothing of ours lies beside the objects', async () => {
  const before = await helperKeys('');
  const separate = await startSvcProxy({
    upstream: store,
    vault: { addr: bao.url, token },
    args: ['--state-bucket', 'state', '--inline-limit', '0'],
  });
  const client = await s3Client(separate.target);
  try {
    const uploaded = await upload('apart.bin', [5 * mib, 10], [client]);
    await complete(client, uploaded);
    assert.equal(await content(client, 'apart.bin'), uploaded.body);
    assert.equal(await helperKeys(''), before);
    assert.is((await helperKeys('manifests', 'state')).length, 1);
  } finally {
    client.destroy();
    await separate.stop();
  }
});

test('an upload begun under another binding is refused in plain words', async () => {
  const UploadId = await begin(s3, 'bound.bin');
  const unbound = await startSvcProxy({
    upstream: store,
    vault: { addr: bao.url, token },
    args: ['--bind', 'none'],
  });
  const client = await s3Client(unbound.target);
  try {
    assert.is(await code(put(client, 'bound.bin', UploadId, 1, Buffer.alloc(5))), 'OperationAborted');
  } finally {
    client.destroy();
    await unbound.stop();
  }
});

test.run();
