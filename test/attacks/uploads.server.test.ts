import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createChecksum } from '../../src/objects/s3/checksum.ts';
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

/** In base64. */
function crc32c(body: Buffer): string {
  const checksum = createChecksum('crc32c');
  checksum.update(body);
  return checksum.digest().toString('base64');
}

interface SummedUpload extends UploadedParts {
  /** Sends part 1 anew. */
  send(Body: Buffer): Promise<void>;
  /** What refuses a Complete that names the CRC-32C of the whole. */
  completeAs(whole: Buffer): Promise<string>;
}

/** Begun with CRC-32C, so that each of its parts has one. */
async function beginSummed(): Promise<SummedUpload> {
  const at = { Bucket: rig.bucket, Key: key };
  const begun = { ...at, ChecksumAlgorithm: 'CRC32C', ChecksumType: 'FULL_OBJECT' } as const;
  const { UploadId = '' } = await proxy.s3.send(new CreateMultipartUploadCommand(begun));
  const Parts: { PartNumber: number; ETag: string }[] = [];
  return {
    UploadId,
    Parts,
    async send(Body) {
      const part = { ...at, UploadId, PartNumber: 1, Body, ChecksumCRC32C: crc32c(Body) };
      const { ETag = '' } = await proxy.s3.send(new UploadPartCommand(part));
      Parts.splice(0, 1, { PartNumber: 1, ETag });
    },
    completeAs: (whole) => {
      const named = { ChecksumCRC32C: crc32c(whole), MultipartUpload: { Parts } };
      return proxy.s3.send(new CompleteMultipartUploadCommand({ ...at, UploadId, ...named })).then(
        () => 'none',
        (error: Error) => error.name,
      );
    },
  };
}

async function assertNoObject(label: string): Promise<void> {
  assert.is((await rawHttp(`${proxy.url}/${rig.bucket}/${key}`)).status, 404, label);
}

test('an older part in the place of a newer one is found where the caller names a checksum', async () => {
  const upload = await beginSummed();
  await upload.send(older);
  const [theirs, file] = [await partRecord(upload), readFileSync(partFile(upload))];
  const remove = (record: string) =>
    rig.store.client.send(new DeleteObjectCommand({ Bucket: rig.bucket, Key: recordsOf(upload) + record }));
  await remove(theirs);
  await upload.send(newer);
  const mine = await partRecord(upload);
  const [number, etag] = mine.split('/');
  const [, , ...rest] = theirs.split('/');
  await remove(mine);
  await put(`${recordsOf(upload)}${[number, etag, ...rest].join('/')}`, '');
  writeFileSync(partFile(upload), file);
  assert.is(await upload.completeAs(newer), 'BadDigest');
  await assertNoObject('older part');
});

test('checksums of a part that were changed, exchanged or left out complete nothing', async () => {
  const [upload, other] = [await beginSummed(), await beginSummed()];
  await upload.send(newer);
  await other.send(older);
  const [good, theirs] = [await partRecord(upload), await partRecord(other)];
  const fields = good.split('/');
  const sealed = (fields[6] ?? '').slice('1.'.length);
  assert.ok(sealed.length > 20, 'the record has no checksums');
  const withSealed = (text: string | undefined) => [...fields.slice(0, 6), ...(text ? [text] : [])].join('/');
  const flipped = Buffer.from(sealed, 'base64url').map((byte, at) => (at === 14 ? byte ^ 1 : byte));
  const edits: Record<string, [record: string, code: string]> = {
    'left out': [withSealed(undefined), 'InternalError'],
    changed: [withSealed(`1.${Buffer.from(flipped).toString('base64url')}`), 'InternalError'],
    exchanged: [withSealed(theirs.split('/')[6]), 'InternalError'],
    'of an unknown form': [withSealed(`2.${sealed}`), 'InvalidPart'],
    'size of the part': [good.replace('/2000/', '/2001/'), 'InternalError'],
  };
  let present = good;
  const replaceRecord = async (record: string) => {
    await rig.store.client.send(
      new DeleteObjectCommand({ Bucket: rig.bucket, Key: recordsOf(upload) + present }),
    );
    await put(`${recordsOf(upload)}${record}`, '');
    present = record;
  };
  for (const [label, [record, code]] of Object.entries(edits)) {
    assert.is.not(record, good, label);
    await replaceRecord(record);
    assert.is(await upload.completeAs(newer), code, label);
    await assertNoObject(label);
  }
  await replaceRecord(good);
  const record = await createRecord(upload);
  const { checksum, ...without } = JSON.parse(record);
  assert.equal(checksum, { algorithm: 'crc32c', type: 'FULL_OBJECT' });
  for (const edited of [
    { ...without, v: 2 },
    { ...without, checksum: { algorithm: 'crc32' } },
    { ...without, checksum: { algorithm: 'crc32c' } },
    { ...without, checksum: { algorithm: 'other' } },
  ]) {
    await put(`${recordsOf(upload)}create`, JSON.stringify(edited));
    await forget();
    assert.is(await upload.completeAs(newer), 'InternalError', JSON.stringify(edited.checksum));
    await assertNoObject('record of the upload');
  }
  await put(`${recordsOf(upload)}create`, record);
  await forget();
  assert.is(await upload.completeAs(newer), 'none');
  assert.ok((await rawHttp(`${proxy.url}/${rig.bucket}/${key}`)).body.equals(newer));
  await rig.store.client.send(new DeleteObjectCommand({ Bucket: rig.bucket, Key: key }));
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
