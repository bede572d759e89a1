import { readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { s3Client } from '../../../support/object-store.ts';
import { startOpenBao } from '../../../support/openbao.ts';
import { runCommand } from '../../../support/run-command.ts';
import { startSvcProxy } from '../../../support/svc-proxy.ts';
import type { ObjectStore, OpenBao, SvcProxy } from '../../../support/types.ts';
import { startVersityGw } from '../../../support/versitygw.ts';

const test = suite('svc proxy gc');
const entry = fileURLToPath(new URL('../../../../bin/run.js', import.meta.url));
const Bucket = 'garbage';
const Body = Buffer.alloc(5 * 1024 * 1024, 'x');

let bao: OpenBao;
let store: ObjectStore;
let proxy: SvcProxy;
let s3: S3Client;

test.before(async () => {
  [bao, store] = await Promise.all([startOpenBao(), startVersityGw()]);
  await bao.enableTransit();
  await store.createBucket(Bucket);
  proxy = await startSvcProxy({
    upstream: store,
    vault: { addr: bao.url, token: await bao.policyToken() },
    args: ['--inline-limit', '0'],
  });
  s3 = await s3Client(proxy.target);
});

test.after(async () => {
  s3?.destroy();
  await proxy?.stop();
  await Promise.all([store?.stop(), bao?.stop()]);
});

async function open(Key: string) {
  const { UploadId } = await s3.send(new CreateMultipartUploadCommand({ Bucket, Key }));
  const { ETag } = await s3.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber: 1, Body }));
  return { Key, UploadId, Parts: [{ PartNumber: 1, ETag }] };
}

async function complete(Key: string): Promise<void> {
  const { UploadId, Parts } = await open(Key);
  const MultipartUpload = { Parts };
  await s3.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload }));
}

/** versitygw tells the file's own time as LastModified. */
function ageHelperObjects(hours: number): void {
  const root = join(store.dataDir, Bucket, '.svc');
  const then = Date.now() / 1000 - hours * 3600;
  for (const path of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
    const file = join(root, path);
    utimesSync(file, then, then);
  }
}

async function gc(...args: string[]) {
  const env = {
    SVC_PROXY_UPSTREAM: store.endpoint,
    AWS_REGION: store.region,
    AWS_ACCESS_KEY_ID: store.accessKeyId,
    AWS_SECRET_ACCESS_KEY: store.secretAccessKey,
  };
  return runCommand(process.execPath, [entry, 'proxy', 'gc', ...args], store.dataDir, { env });
}

async function findings(...args: string[]): Promise<{ deleted: boolean; rows: string[] }> {
  const { status, stdout, stderr } = await gc('--json', ...args);
  assert.is(status, 0, stderr);
  const { deleted, garbage } = JSON.parse(stdout);
  const rows = garbage.map((found: { kind: string; object?: { key: string }; reason: string }) =>
    [found.kind, found.object?.key ?? '', found.reason].join(' | '),
  );
  return { deleted, rows: rows.sort() };
}

test('finds what is old and needed by nothing, touches it only when told to', async () => {
  await complete('kept.bin');
  await complete('removed.bin');
  const abandoned = await open('abandoned.bin');
  const waiting = await open('waiting.bin');
  await store.client.send(new DeleteObjectCommand({ Bucket, Key: 'removed.bin' }));
  const { AbortMultipartUploadCommand } = await import('@aws-sdk/client-s3');
  const { UploadId } = abandoned;
  await store.client.send(new AbortMultipartUploadCommand({ Bucket, Key: 'abandoned.bin', UploadId }));

  assert.equal((await findings()).rows, [], 'nothing is a day old');
  ageHelperObjects(25);
  const expected = [
    'manifest | removed.bin | no object names it',
    'upload-records |  | upload was completed',
    'upload-records |  | upload was completed',
    'upload-records | abandoned.bin | upload no longer exists',
  ];
  assert.equal(await findings(), { deleted: false, rows: expected });
  assert.equal(await findings('--buckets', Bucket), { deleted: false, rows: expected });
  assert.equal(await findings('--delete'), { deleted: true, rows: expected });
  assert.equal((await findings()).rows, []);

  const kept = await s3.send(new GetObjectCommand({ Bucket, Key: 'kept.bin' }));
  assert.equal(Buffer.from((await kept.Body?.transformToByteArray()) ?? []), Body);
  const MultipartUpload = { Parts: waiting.Parts };
  await s3.send(
    new CompleteMultipartUploadCommand({
      Bucket,
      Key: 'waiting.bin',
      UploadId: waiting.UploadId,
      MultipartUpload,
    }),
  );
});

/** Listings are XML, which cannot hold all that keys may: versitygw and MinIO write U+FFFD in the place of such a character. */
test('objects and open uploads are kept, whatever characters their keys have', async () => {
  const keys = ['\u0001', '\ufffe', '\r', '\n', ' ', '&amp;', '%20', '+', '\u0085', '\u2028'].map(
    (odd) => `odd ${odd}.bin`,
  );
  for (const key of keys) await complete(key);
  const waiting = await open('waiting \u0001.bin');
  ageHelperObjects(25);
  const { rows } = await findings('--delete');
  assert.equal(
    rows.filter((row) => !row.endsWith('upload was completed')),
    [],
  );
  for (const Key of keys) {
    const { Body: kept } = await s3.send(new GetObjectCommand({ Bucket, Key }));
    assert.ok(Buffer.from((await kept?.transformToByteArray()) ?? []).equals(Body), JSON.stringify(Key));
  }
  const { Key, UploadId, Parts } = waiting;
  await s3.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }));
});

test('says what it would do, for people', async () => {
  const { stdout } = await gc();
  assert.match(stdout, /Nothing to collect/);
});

test('less than a day, or a bucket that is not there, is an error', async () => {
  const young = await gc('--min-age', '1h');
  assert.is(young.status, 78);
  assert.match(young.stderr, /--min-age/);
  const absent = await gc('--buckets', 'absent-bucket');
  assert.is(absent.status, 69);
  assert.match(absent.stderr, /NoSuchBucket/);
});

test.run();
