import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type ChecksumAlgorithm, createChecksum } from '../../../src/objects/s3/checksum.ts';
import {
  type CrcAlgorithm,
  combineCrcs,
  judgeCompletedChecksums,
  judgePartChecksum,
  readObjectChecksum,
  readUploadChecksum,
  type UploadChecksum,
  verifyObjectChecksum,
} from '../../../src/objects/s3/object-checksum.ts';
import { refusal } from './refusals.ts';

const test = suite('checksums of objects in parts');
const crcs: readonly CrcAlgorithm[] = ['crc32', 'crc32c', 'crc64nvme'];

function digest(algorithm: ChecksumAlgorithm, ...pieces: Uint8Array[]): Buffer {
  const checksum = createChecksum(algorithm);
  for (const piece of pieces) checksum.update(Buffer.from(piece));
  return checksum.digest();
}

const partsOf = (algorithm: ChecksumAlgorithm, pieces: Uint8Array[]) =>
  pieces.map((piece) => ({ size: piece.length, checksum: digest(algorithm, piece) }));

for (const algorithm of crcs) {
  test(`${algorithm}: pieces combine to the checksum of the whole`, () => {
    const pieces = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 12 });
    fc.assert(
      fc.property(pieces, (bodies) =>
        combineCrcs(algorithm, partsOf(algorithm, bodies)).equals(digest(algorithm, ...bodies)),
      ),
    );
  });

  test(`${algorithm}: pieces of gigabytes combine as pieces of zeros do that are cut otherwise`, () => {
    const size = 5 * 1024 ** 3 + 7;
    const half = { size: 64 * 1024, checksum: digest(algorithm, Buffer.alloc(64 * 1024)) };
    const rest = { size: 7, checksum: digest(algorithm, Buffer.alloc(7)) };
    const many = Array.from({ length: Math.floor(size / half.size) }, () => half);
    const checksum = combineCrcs(algorithm, [...many, rest]);
    const byte = { size: 1, checksum: digest(algorithm, Buffer.of(1)) };
    const once = combineCrcs(algorithm, [byte, { size, checksum }]);
    assert.equal(once, combineCrcs(algorithm, [byte, ...many, rest]));
    assert.not.equal(once, combineCrcs(algorithm, [byte, { size: size - 2 ** 32, checksum }]));
  });
}

test('10,000 parts of different sizes', () => {
  const bodies = Array.from({ length: 10_000 }, (_, index) => Buffer.alloc(index % 97, index));
  for (const algorithm of crcs)
    assert.equal(combineCrcs(algorithm, partsOf(algorithm, bodies)), digest(algorithm, ...bodies));
});

const bodies = [Buffer.from('first'), Buffer.from('the second'), Buffer.from('3')];

function verified(algorithm: ChecksumAlgorithm, text: string, begun?: UploadChecksum, type?: string) {
  const headers = { [`x-amz-checksum-${algorithm}`]: text, ...(type && { 'x-amz-checksum-type': type }) };
  const named = readObjectChecksum(headers);
  return named && verifyObjectChecksum(named, partsOf(algorithm, bodies), begun);
}

test('without a type of its own or of the upload a checksum may be of either', () => {
  const full = digest('crc32c', ...bodies).toString('base64');
  const composite = digest('crc32c', ...bodies.map((body) => digest('crc32c', body))).toString('base64');
  const answered = { algorithm: 'crc32c', type: 'COMPOSITE', text: `${composite}-3` };
  assert.equal(verified('crc32c', full), { algorithm: 'crc32c', type: 'FULL_OBJECT', text: full });
  for (const text of [composite, `${composite}-3`]) assert.equal(verified('crc32c', text), answered);
  const begun = { algorithm: 'crc32c', type: 'FULL_OBJECT' } as const;
  assert.is(
    refusal(() => verified('crc32c', composite, begun)),
    'BadDigest',
  );
  assert.equal(verified('crc32c', composite, begun, 'COMPOSITE'), answered);
  assert.equal(verified('crc32c', composite, { ...begun, algorithm: 'crc32' }), answered);
  for (const wrong of [() => verified('crc32c', `${full}-3`), () => verified('crc32c', `${composite}-4`)])
    assert.is(refusal(wrong), 'BadDigest');
  assert.is(
    refusal(() => verified('crc32c', full, undefined, 'COMPOSITE')),
    'BadDigest',
  );
});

test('an upload begins with one of the known algorithms, or with none', () => {
  const begun = (algorithm?: string, type?: string) =>
    readUploadChecksum({
      ...(algorithm && { 'x-amz-checksum-algorithm': algorithm }),
      ...(type && { 'x-amz-checksum-type': type }),
    });
  assert.equal(begun('CRC64NVME'), { algorithm: 'crc64nvme' });
  assert.equal(begun('crc32', 'FULL_OBJECT'), { algorithm: 'crc32', type: 'FULL_OBJECT' });
  assert.is(begun(), undefined);
  for (const [algorithm, type] of [
    ['SHA1', 'FULL_OBJECT'],
    ['CRC64NVME', 'COMPOSITE'],
    ['CRC32', 'HALF_OBJECT'],
    [undefined, 'COMPOSITE'],
    [undefined, 'HALF_OBJECT'],
    ['XXHASH32'],
    ['XXHASH64', 'FULL_OBJECT'],
    ['SHA512', 'FULL_OBJECT'],
    ['constructor'],
  ])
    assert.is(
      refusal(() => begun(algorithm, type)),
      'InvalidRequest',
    );
});

const partRefusal = (headers: Record<string, string>, begun: UploadChecksum | undefined) => {
  try {
    judgePartChecksum(headers, begun);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
};
const mismatch = (expected: string, actual: string) =>
  `Checksum Type mismatch occurred, expected checksum Type: ${expected}, actual checksum Type: ${actual}`;

test('a part has the checksum that its upload was begun with, in a header or a trailer', () => {
  const full = { algorithm: 'crc32', type: 'FULL_OBJECT' } as const;
  const composite = { algorithm: 'crc32', type: 'COMPOSITE' } as const;
  const right = [{ 'x-amz-checksum-crc32': 'AAAAAA==' }, { 'x-amz-trailer': 'x-amz-checksum-crc32' }];
  const other = [{ 'x-amz-checksum-sha256': 'AA==' }, { 'x-amz-trailer': 'x-amz-checksum-sha256' }];
  for (const begun of [full, composite, { algorithm: 'crc32' } as const]) {
    for (const headers of right) assert.is(partRefusal(headers, begun), undefined);
    for (const headers of other) assert.is(partRefusal(headers, begun), mismatch('CRC32', 'SHA256'));
  }
  for (const headers of [...right, ...other, {}]) assert.is(partRefusal(headers, undefined), undefined);
  assert.is(partRefusal({}, full), undefined);
  assert.is(partRefusal({}, composite), mismatch('CRC32', 'null'));
});

test('a Complete keeps to the type of its upload, and names the checksum of every part of a composite one', () => {
  const named = new Map([['crc32', Buffer.alloc(4)]] as const);
  const parts = [{ partNumber: 1, named }, { partNumber: 3 }];
  const full = { algorithm: 'crc32', type: 'FULL_OBJECT' } as const;
  const composite = { algorithm: 'crc32', type: 'COMPOSITE' } as const;
  judgeCompletedChecksums(full, 'FULL_OBJECT', parts);
  judgeCompletedChecksums({ algorithm: 'crc32' }, 'COMPOSITE', parts);
  judgeCompletedChecksums(composite, undefined, [{ partNumber: 1, named }]);
  assert.throws(
    () => judgeCompletedChecksums(full, 'COMPOSITE', parts),
    /using the FULL_OBJECT checksum mode. The complete request must use the same checksum mode\.$/,
  );
  assert.throws(
    () => judgeCompletedChecksums(composite, undefined, parts),
    /It was missing for part 3 in the/,
  );
});

test('a Complete names one checksum of the right form, or none', () => {
  assert.is(readObjectChecksum({ 'x-amz-checksum-type': 'FULL_OBJECT' }), undefined);
  const wrong: Record<string, string>[] = [
    { 'x-amz-checksum-crc32': 'AAAAAA==', 'x-amz-checksum-crc32c': 'AAAAAA==' },
    ...['', '-', '-1', 'AAAAAA', 'AAAAAA==-', 'AAAAAA==-x', 'AAAAAA==-1-1', 'AAAAAAAAAAA='].map((text) => ({
      'x-amz-checksum-crc32': text,
    })),
  ];
  for (const headers of wrong)
    assert.is(
      refusal(() => readObjectChecksum(headers)),
      'InvalidRequest',
      JSON.stringify(headers),
    );
});

test.run();
