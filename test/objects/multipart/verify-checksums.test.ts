import { createHmac, randomBytes } from 'node:crypto';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { EnvelopeError } from '../../../src/objects/format/cipher.ts';
import { sealChecksums } from '../../../src/objects/format/sealed-checksums.ts';
import { UploadKeys } from '../../../src/objects/multipart/upload-keys.ts';
import {
  readUploadRecord,
  type UploadRecord,
  uploadRecordText,
  verifyUploadRecord,
} from '../../../src/objects/multipart/upload-record.ts';
import { verifyChecksums } from '../../../src/objects/multipart/verify-checksums.ts';
import { type ChecksumAlgorithm, createChecksum } from '../../../src/objects/s3/checksum.ts';
import { S3Error } from '../../../src/objects/s3/error.ts';
import type { UploadChecksum } from '../../../src/objects/s3/object-checksum.ts';
import { partEntry, wrapped } from '../parts.ts';

const test = suite('checksums that a Complete names');

const upload: UploadRecord = {
  bucket: 'photos',
  key: 'big.bin',
  uploadId: 'u1',
  manifest: 'AAAAAAAAAAAAAAAAAAAAAA',
  keyName: 'svc',
  keyVersion: 1,
  seal: wrapped(),
  binding: 'key',
  userMetadata: 0,
  repeat: { 'x-amz-acl': 'private', 'x-amz-storage-class': 'COLD' },
};

function digest(algorithm: ChecksumAlgorithm, body: Buffer): Buffer {
  const checksum = createChecksum(algorithm);
  checksum.update(body);
  return checksum.digest();
}

/** Parts of one byte, each with the checksums of these algorithms, and the key server that unwraps their DEKs. */
function world(count: number, algorithmsOf: (n: number) => readonly ChecksumAlgorithm[]) {
  const deks = new Map<string, Buffer>();
  const records = Array.from({ length: count }, (_unused, index) => {
    const body = Buffer.of(index);
    const part = partEntry(index + 1, body.length);
    const dek = randomBytes(32);
    deks.set(part.dek, dek);
    const checksums = new Map(algorithmsOf(part.n).map((algorithm) => [algorithm, digest(algorithm, body)]));
    return { part, etag: 'e', ...(checksums.size > 0 && { sealed: sealChecksums(dek, part, checksums) }) };
  });
  const given: Buffer[] = [];
  const calls: number[] = [];
  const keys = {
    async unwrap(_name: unknown, _scheme: unknown, items: readonly { wrapped: string }[]) {
      calls.push(items.length);
      const copies = items.map((item) => Buffer.from(deks.get(item.wrapped) as Buffer));
      given.push(...copies);
      return copies;
    },
  };
  const parts = records.map(({ part }) => ({ partNumber: part.n, etag: 'e' }));
  const whole = (algorithm: ChecksumAlgorithm) => ({
    algorithm,
    value: digest(algorithm, Buffer.from(records.map((_unused, index) => index))),
  });
  return { records, keys: { keys, uploadKeys: new UploadKeys(keys) }, parts, whole, given, calls };
}

const begunWith = (algorithm: ChecksumAlgorithm): UploadRecord & { checksum: UploadChecksum } => ({
  ...upload,
  checksum: { algorithm },
});

async function refusal(action: Promise<unknown>): Promise<string> {
  return action.then(
    () => 'none',
    (error: unknown) => {
      if (error instanceof S3Error) return error.code;
      if (error instanceof EnvelopeError) return error.reason;
      throw error;
    },
  );
}

test('DEKs are unwrapped by the hundred where something is named, and wiped', async () => {
  const { keys, records, parts, whole, given, calls } = world(250, () => ['crc32c']);
  const named = whole('crc32c');
  const found = await verifyChecksums(keys, begunWith('crc32c'), { parts, records, named });
  const text = named.value.toString('base64');
  assert.equal(found.whole, { algorithm: 'crc32c', type: 'FULL_OBJECT', text });
  const digests = Buffer.concat(records.map((_unused, index) => digest('crc32c', Buffer.of(index))));
  assert.equal(found.ofParts, { algorithm: 'crc32c', digests });
  assert.equal(calls, [100, 100, 50]);
  assert.ok(given.length === 250 && given.every((dek) => dek.every((byte) => byte === 0)));
});

test('where nothing is named nor was asked for at the beginning, the key server is not asked', async () => {
  const { keys, records, parts, calls } = world(3, () => ['crc32c']);
  const found = await verifyChecksums(keys, upload, { parts, records, named: undefined });
  assert.equal([found, calls], [{}, []]);
});

test('what was asked for at the beginning is calculated where the Complete does not name it', async () => {
  const { keys, records, parts, whole } = world(3, () => ['crc64nvme', 'sha256']);
  const found = async (algorithm: ChecksumAlgorithm) =>
    (await verifyChecksums(keys, begunWith(algorithm), { parts, records, named: undefined })).whole;
  const full = whole('crc64nvme').value.toString('base64');
  assert.equal(await found('crc64nvme'), { algorithm: 'crc64nvme', type: 'FULL_OBJECT', text: full });
  const digests = records.map((_unused, index) => digest('sha256', Buffer.of(index)));
  const composite = `${digest('sha256', Buffer.concat(digests)).toString('base64')}-3`;
  assert.equal(await found('sha256'), { algorithm: 'sha256', type: 'COMPOSITE', text: composite });
});

test('DEKs are wiped where a record is forged', async () => {
  const { keys, records, parts, whole, given } = world(3, () => ['crc32']);
  const [first, second, third] = records as [(typeof records)[0], (typeof records)[0], (typeof records)[0]];
  const forged = [first, { ...second, sealed: third.sealed as string }, third];
  const asked = { parts, records: forged, named: whole('crc32') };
  assert.is(await refusal(verifyChecksums(keys, upload, asked)), 'record-forged');
  assert.ok(given.length === 3 && given.every((dek) => dek.every((byte) => byte === 0)));
});

test('a part without the checksum is taken in an upload that was begun without an algorithm only', async () => {
  const { keys, records, parts, whole } = world(3, (n) => (n === 2 ? [] : ['crc32']));
  const asked = { parts, records, named: { ...whole('crc32'), value: Buffer.alloc(4) } };
  assert.equal(await verifyChecksums(keys, upload, asked), {});
  assert.is(await refusal(verifyChecksums(keys, begunWith('crc32'), asked)), 'record-forged');
  assert.is(await refusal(verifyChecksums(keys, begunWith('sha1'), asked)), 'InvalidRequest');
});

test('of parts that have several, each that is named is compared', async () => {
  const { keys, records, parts, whole } = world(2, () => ['crc64nvme', 'sha256']);
  const right = new Map([['sha256', digest('sha256', Buffer.of(0))]] as const);
  const wrong = new Map([...right, ['crc64nvme', Buffer.alloc(8)]] as const);
  const [first, second] = parts as [(typeof parts)[0], (typeof parts)[0]];
  for (const [named, code] of [
    [right, 'none'],
    [wrong, 'InvalidPart'],
  ] as const) {
    const asked = { parts: [{ ...first, named }, second], records, named: whole('crc64nvme') };
    assert.is(await refusal(verifyChecksums(keys, begunWith('crc64nvme'), asked)), code);
  }
});

test('the record of an upload without an algorithm is the one that earlier builds write and read', () => {
  const sealKey = randomBytes(32);
  const { bucket, key, uploadId, manifest, keyName, keyVersion, seal, binding, userMetadata } = upload;
  const fields = [bucket, key, uploadId, manifest, keyName, keyVersion, seal, binding, userMetadata];
  const signed = `svc/upload/1\n${JSON.stringify([...fields, Object.entries(upload.repeat)])}`;
  const mac = createHmac('sha256', sealKey).update(signed).digest('base64');
  assert.equal(JSON.parse(uploadRecordText(upload, sealKey)), { v: 2, ...upload, mac });
  const asked = { ...upload, checksum: { algorithm: 'crc32', type: 'COMPOSITE' } } as const;
  const text = uploadRecordText(asked, sealKey);
  assert.is(JSON.parse(text).v, 3);
  assert.equal(verifyUploadRecord(readUploadRecord(text), sealKey), asked);
});

test.run();
