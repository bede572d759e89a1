import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { rawHttp } from '../support/raw-http.ts';
import { type Rig, type RiggedProxy, startRig } from '../support/rig.ts';
import { assertRefused } from './support/refused.ts';
import { complete, editMetadata, sendParts, type UploadedParts } from './support/stored.ts';

const test = suite('records of open uploads that the store changes');
let rig: Rig;
let proxy: RiggedProxy;
const key = 'contract';
const [older, newer] = [randomBytes(2000), randomBytes(2000)];

test.before(async () => {
  rig = await startRig();
  proxy = await rig.proxy({ args: ['--upstream-checksum', 'none', '--inline-limit', '0'] });
});
test.after(() => rig?.stop());

const recordsOf = ({ UploadId }: UploadedParts) =>
  `.svc/uploads/${createHash('sha256').update(UploadId).digest('hex')}/`;

const put = (Key: string, Body: string) =>
  rig.store.client.send(new PutObjectCommand({ Bucket: rig.bucket, Key, Body }));

async function createRecord(upload: UploadedParts): Promise<string> {
  const at = { Bucket: rig.bucket, Key: `${recordsOf(upload)}create` };
  return (await (await rig.store.client.send(new GetObjectCommand(at))).Body?.transformToString()) ?? '';
}

/** Key of the record of the upload's only part, below its prefix. */
async function partRecord(upload: UploadedParts): Promise<string> {
  const Prefix = recordsOf(upload);
  const { Contents = [] } = await rig.store.client.send(
    new ListObjectsV2Command({ Bucket: rig.bucket, Prefix }),
  );
  const record = Contents.map(({ Key = '' }) => Key.slice(Prefix.length)).find((name) => name !== 'create');
  assert.ok(record, 'no record of the part');
  return record as string;
}

/** The file in which versitygw keeps the upload's only part. */
function partFile({ UploadId }: UploadedParts): string {
  const files = readdirSync(join(rig.store.dataDir, rig.bucket), { recursive: true }).map(String);
  const file = files.find((name) => name.includes('multipart') && name.endsWith(`${UploadId}/1`));
  assert.ok(file, 'no file of the part');
  return join(rig.store.dataDir, rig.bucket, file as string);
}

/** The part of `from`, with its key and nonce, under the ETag that the caller was told of `to`'s. */
async function exchangePart(from: UploadedParts, to: UploadedParts): Promise<void> {
  const [mine, theirs] = [await partRecord(to), await partRecord(from)];
  const [number, etag] = mine.split('/');
  const [, , ...rest] = theirs.split('/');
  await rig.store.client.send(new DeleteObjectCommand({ Bucket: rig.bucket, Key: recordsOf(to) + mine }));
  await put(`${recordsOf(to)}${[number, etag, ...rest].join('/')}`, '');
  writeFileSync(partFile(to), readFileSync(partFile(from)));
}

/** Another process, as another pod's proxy: it knows what the records say. */
async function forget(): Promise<void> {
  await proxy.restart();
  await proxy.reconnect();
}

/** What the store has to do besides, once it got so far: the object's header is its to change as well. */
const pointTo = ({ manifest, seal }: { manifest: string; seal: string }) =>
  editMetadata(rig, key, (metadata) => {
    metadata['svc-wrapped-dek'] = JSON.stringify({ v: 1, manifest, seal });
  });

async function assertNotCompleted(upload: UploadedParts, label: string): Promise<void> {
  const record = JSON.parse(await createRecord(upload));
  const error = await complete(proxy.s3, rig.bucket, key, upload).then(
    () => undefined,
    (cause: Error) => cause.name,
  );
  if (error === undefined) await pointTo(record);
  const stored = await rawHttp(`${proxy.url}/${rig.bucket}/${key}`);
  assert.is(stored.status, 404, `${label}: the older part became the object: ${stored.body.equals(older)}`);
  assert.match(String(error), /^(InternalError|NoSuchUpload)$/, label);
}

test('the parts of another upload of the same object do not become its parts', async () => {
  const from = await sendParts(proxy.s3, rig.bucket, key, [older]);
  const to = await sendParts(proxy.s3, rig.bucket, key, [newer]);
  const record = await createRecord(from);
  await exchangePart(from, to);
  await put(`${recordsOf(to)}create`, record.replaceAll(from.UploadId, to.UploadId));
  await forget();
  await assertNotCompleted(to, 'record that names this upload');
  await put(`${recordsOf(to)}create`, record);
  await forget();
  await assertNotCompleted(to, 'record as it was');
});

test('a record of which anything was changed takes no part and completes nothing', async () => {
  const upload = await sendParts(proxy.s3, rig.bucket, key, [newer]);
  const good = await createRecord(upload);
  const edits: Record<string, (record: Record<string, unknown>) => void> = {
    manifest: (record) => Object.assign(record, { manifest: randomBytes(16).toString('base64url') }),
    'headers of the object': (record) => Object.assign(record, { repeat: { 'x-amz-acl': 'public-read' } }),
    metadata: (record) => Object.assign(record, { userMetadata: 0 - 1 }),
    'no proof': (record) => delete record['mac'],
    'an older form': (record) => Object.assign(record, { v: 1 }),
  };
  for (const [label, edit] of Object.entries(edits)) {
    const record = JSON.parse(good);
    edit(record);
    await put(`${recordsOf(upload)}create`, JSON.stringify(record));
    await forget();
    await assertNotCompleted(upload, label);
    const url = `${proxy.url}/${rig.bucket}/${key}?partNumber=2&uploadId=${upload.UploadId}`;
    assertRefused(await rawHttp(url, { method: 'PUT', body: newer }), label);
  }
  await put(`${recordsOf(upload)}create`, good);
  await forget();
  await complete(proxy.s3, rig.bucket, key, upload);
  assert.ok((await rawHttp(`${proxy.url}/${rig.bucket}/${key}`)).body.equals(newer));
});

test.run();
