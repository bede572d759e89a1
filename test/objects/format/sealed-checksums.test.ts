import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { decryptBody, encryptBody } from '../../../src/objects/format/cipher.ts';
import { partRecordKey, readPartRecord, uploadPrefix } from '../../../src/objects/format/records.ts';
import { openChecksums, sealChecksums } from '../../../src/objects/format/sealed-checksums.ts';
import { type ChecksumAlgorithm, type Checksums, digestLength } from '../../../src/objects/s3/checksum.ts';
import { faultOf } from './fault.ts';

const test = suite('sealed checksums');
const dek = randomBytes(32);
const body = { nonce: randomBytes(12).toString('base64'), size: 5_000_000 };
const kinds = ['crc32', 'crc32c', 'crc64nvme', 'sha1', 'sha256'] as const satisfies ChecksumAlgorithm[];

const some = (algorithms: readonly ChecksumAlgorithm[]): Checksums =>
  new Map(algorithms.map((algorithm) => [algorithm, randomBytes(digestLength[algorithm])]));

test('any set of them is read as it was sealed', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.constantFrom(...kinds)), (algorithms) => {
      const checksums = some([...algorithms].sort());
      assert.equal(openChecksums(dek, body, sealChecksums(dek, body, checksums)), checksums);
    }),
  );
});

test('the sealed form is stable', () => {
  const key = Buffer.alloc(32, 1);
  const of = { nonce: 'AgICAgICAgICAgIC', size: 12 };
  const sealed = 'bvaMnj7Zi8BUAlPZw8VkqcjRr8Xcj5KlXozohn5FMYZp';
  assert.equal(openChecksums(key, of, sealed), new Map([['crc32c', Buffer.from('01020304', 'hex')]]));
});

test('under another key, for another body, or with any bit changed they are forged', () => {
  const sealed = sealChecksums(dek, body, some(['crc64nvme']));
  assert.not.equal(sealed, sealChecksums(dek, body, some(['crc64nvme'])));
  const bytes = Buffer.from(sealed, 'base64url');
  const flipped = Array.from(bytes, (byte, at) => {
    const copy = Buffer.from(bytes);
    copy[at] = byte ^ 1;
    return copy.toString('base64url');
  });
  const attempts = [
    () => openChecksums(randomBytes(32), body, sealed),
    () => openChecksums(dek, { ...body, size: body.size + 1 }, sealed),
    () => openChecksums(dek, { ...body, nonce: 'AgICAgICAgICAgIC' }, sealed),
    ...[...flipped, '', 'AAAA', sealed.slice(0, 36), sealed.slice(0, -1)].map(
      (text) => () => openChecksums(dek, body, text),
    ),
  ];
  for (const attempt of attempts) assert.is(faultOf(attempt), 'record-forged');
});

test('a body is not taken for checksums, nor checksums for a body', () => {
  const cipher = encryptBody(dek);
  const parts = [cipher.nonce, cipher.update(Buffer.of(1, 0, 0, 0, 0)), cipher.finish()];
  const asChecksums = Buffer.concat(parts).toString('base64url');
  assert.is(
    faultOf(() => openChecksums(dek, body, asChecksums)),
    'record-forged',
  );
  const sealed = Buffer.from(sealChecksums(dek, body, some(['crc32'])), 'base64url');
  const decipher = decryptBody(dek, sealed.subarray(0, 12));
  decipher.update(sealed.subarray(12, -16));
  assert.is(
    faultOf(() => decipher.verify(sealed.subarray(-16))),
    'authentication-failed',
  );
});

test('a record has them in its key, and a record without stays as it was', () => {
  const part = { n: 7, dek: 'vault:v1:AAAA', nonce: body.nonce, size: body.size };
  const record = { part, etag: 'e', checksum: 'AAAAAA==' };
  const plain = partRecordKey('.svc/', 'upload', record);
  const sealed = sealChecksums(dek, body, some(kinds));
  const key = partRecordKey('.svc/', 'upload', { ...record, sealed });
  assert.is(key, `${plain}/1.${sealed}`);
  const prefix = uploadPrefix('.svc/', 'upload');
  assert.equal(readPartRecord(prefix, plain), record);
  assert.equal(readPartRecord(prefix, key), { ...record, sealed });
  assert.is(readPartRecord(prefix, `${plain}/2.${sealed}`), undefined);
  assert.ok(key.split('/').every((component) => component.length < 255));
});

test.run();
