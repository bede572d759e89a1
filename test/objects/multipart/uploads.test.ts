import { randomBytes } from 'node:crypto';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { partRecordId, partRecordKey } from '../../../src/objects/format/records.ts';
import { MemoryBudget } from '../../../src/objects/held-memory.ts';
import { matchParts } from '../../../src/objects/multipart/complete-once.ts';
import { UploadKeys } from '../../../src/objects/multipart/upload-keys.ts';
import { listHash, type UploadRecord } from '../../../src/objects/multipart/upload-record.ts';
import { Uploads } from '../../../src/objects/multipart/uploads.ts';
import { S3Error } from '../../../src/objects/s3/error.ts';
import { MemoryState, noRemovals } from '../memory-state.ts';
import { partEntry, wrapped } from '../parts.ts';

const test = suite('uploads');
const name = { bucket: 'photos', key: 'big.bin' };

const record: UploadRecord = {
  ...name,
  uploadId: 'u/1+ü',
  manifest: 'AAAAAAAAAAAAAAAAAAAAAA',
  keyName: 'svc',
  keyVersion: 3,
  seal: wrapped(3),
  binding: 'key',
  userMetadata: 12,
  repeat: { 'x-amz-acl': 'private' },
};

const sealKey = randomBytes(32);
/** Stands for the store's list of parts. */
const current = new Map<number, string>();

const open = (state = new MemoryState()) =>
  new Uploads({
    ...{ state, reservedPrefix: '.svc/', keys, removals: noRemovals },
    memory: new MemoryBudget(),
    currentEtag: async (_, number) => current.get(number),
  });

/** Of the key server, that wraps the seal key. */
const keys = new UploadKeys({ unwrap: async () => [Buffer.from(sealKey)] });

async function code(action: Promise<unknown> | (() => unknown)): Promise<string> {
  try {
    await (typeof action === 'function' ? action() : action);
  } catch (error) {
    if (error instanceof S3Error) return error.code;
    throw error;
  }
  return 'none';
}

test('a second proxy finds the upload and all of its parts', async () => {
  const state = new MemoryState();
  const first = open(state);
  await first.begin(record, sealKey);
  const parts = [2, 1, 10_000].map((n) => ({
    part: partEntry(n),
    etag: `etag-${n}`,
    ...(n === 2 && { checksum: 'AQIDBA==' }),
  }));
  for (const part of parts) await first.parts.add(record, part);
  const second = open(state);
  assert.equal(await second.find(name, record.uploadId), record);
  const ids = new Set(parts.map(({ part, etag }) => partRecordId(part.n, etag)));
  const found = await second.parts.find(record, ids);
  assert.equal(
    found.sort((a, b) => a.part.n - b.part.n),
    parts.sort((a, b) => a.part.n - b.part.n),
  );
});

test('an upload of another object, or of nobody, is NoSuchUpload', async () => {
  const uploads = open();
  await uploads.begin(record, sealKey);
  assert.is(await code(uploads.find({ ...name, key: 'other' }, record.uploadId)), 'NoSuchUpload');
  assert.is(await code(uploads.find(name, 'unknown')), 'NoSuchUpload');
});

test('finishing leaves the done record only; abandoning leaves nothing', async () => {
  const state = new MemoryState();
  const uploads = open(state);
  await uploads.begin(record, sealKey);
  for (let n = 1; n <= 10; n++) await uploads.parts.add(record, { part: partEntry(n), etag: 'e' });
  const done = { list: 'abc', etag: '"e-10"', versionId: undefined };
  await uploads.finish(record, done);
  assert.is(state.objects.size, 1);
  assert.equal(await open(state).done(name, record.uploadId), { ...done, bucket: name.bucket });
  assert.is(await code(uploads.find(name, record.uploadId)), 'NoSuchUpload');
  await uploads.abandon(name, record.uploadId);
  assert.is(state.objects.size, 0);
});

test('parts are matched by number and ETag, in the order named', async () => {
  const older = { part: partEntry(1), etag: 'old' };
  const newer = { part: partEntry(1), etag: 'new' };
  const other = { part: partEntry(7), etag: 'x' };
  const records = [older, other, newer];
  const named = [
    { partNumber: 1, etag: 'new' },
    { partNumber: 7, etag: 'x' },
  ];
  assert.equal(matchParts(named, records), [newer, other]);
  assert.is(await code(() => matchParts([{ partNumber: 2, etag: 'x' }], records)), 'InvalidPart');
  assert.is(
    await code(() => matchParts(named, [...records, { ...newer, part: partEntry(1) }])),
    'InvalidPart',
  );
});

test('the hash of a list tells numbers and ETags apart', () => {
  const base = listHash(name, [{ partNumber: 1, etag: 'a' }]);
  assert.is(base, listHash(name, [{ partNumber: 1, etag: 'a' }]));
  assert.is.not(base, listHash(name, [{ partNumber: 2, etag: 'a' }]));
  assert.is.not(base, listHash(name, [{ partNumber: 1, etag: 'b' }]));
});

test('a Complete under the name of another object is not taken for a repeated one', async () => {
  const parts = [{ partNumber: 1, etag: 'a' }];
  const uploads = open();
  await uploads.begin(record, sealKey);
  await uploads.finish(record, { list: listHash(name, parts), etag: '"e"' });
  const other = { ...name, key: 'other' };
  const done = await uploads.done(other, record.uploadId);
  assert.is.not(done?.list, listHash(other, parts));
  assert.is(await code(uploads.find(other, record.uploadId)), 'NoSuchUpload');
});

/** Numbers and ETags of the records that are there. */
const recordsIn = (state: MemoryState) =>
  [...state.objects.keys()]
    .map((key) => /\/(\d{5})\/([^/]+)\//.exec(key))
    .flatMap((match) =>
      match === null ? [] : [`${Number(match[1])} ${Buffer.from(match[2] ?? '', 'base64url')}`],
    );

test('the record of a part that is sent again stays if the store has another one, or is not asked', async () => {
  const state = new MemoryState(1_000);
  const uploads = open(state);
  await uploads.begin(record, sealKey);
  const send = (n: number, etag: string, has: string | undefined) => {
    if (has === undefined) current.delete(n);
    else current.set(n, has);
    return uploads.parts.add(record, { part: partEntry(n), etag });
  };
  await send(1, 'a', undefined);
  await send(2, 'x', undefined);
  await send(1, 'b', undefined);
  assert.equal(recordsIn(state).sort(), ['1 a', '1 b', '2 x'], 'the store did not tell');
  await send(1, 'c', 'of a proxy that has not recorded it yet');
  assert.equal(recordsIn(state).sort(), ['1 a', '1 b', '1 c', '2 x']);
  await send(1, 'd', 'b');
  assert.equal(recordsIn(state).sort(), ['1 b', '2 x'], 'it lost to one sent at the same time');
  await send(1, 'e', 'e');
  assert.equal(recordsIn(state).sort(), ['1 e', '2 x']);
});

test('an upload with too many records takes no further part, and can be completed', async () => {
  const state = new MemoryState(1_000);
  current.clear();
  const uploads = open(state);
  await uploads.begin(record, sealKey);
  for (let at = 0; at < 11_000; at++)
    await state.put(
      record.bucket,
      partRecordKey('.svc/', record.uploadId, { part: partEntry(1), etag: `e${at}` }),
      '',
    );
  await uploads.parts.admit(record);
  const other = open(state);
  assert.is(await code(other.parts.admit(record)), 'InvalidRequest');
  const found = await other.parts.find(record, new Set([partRecordId(1, 'e10500'), partRecordId(2, 'none')]));
  assert.equal(
    found.map(({ etag }) => etag),
    ['e10500'],
  );
});

test.run();
