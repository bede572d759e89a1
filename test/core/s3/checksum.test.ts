import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type ChecksumAlgorithm, createChecksum, digestLength } from '../../../src/core/s3/checksum.ts';

const test = suite('checksums');
const digest = (algorithm: ChecksumAlgorithm, ...pieces: Buffer[]) => {
  const checksum = createChecksum(algorithm);
  for (const piece of pieces) checksum.update(piece);
  return checksum.digest();
};

const checkValues: Record<ChecksumAlgorithm, string> = {
  crc32: 'cbf43926',
  crc32c: 'e3069283',
  crc64nvme: 'ae8b14860a799888',
  sha1: 'f7c3bc1d808e04732adf679965ccc34ca7ae3441',
  sha256: '15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225',
  md5: '25f9e794323b453885f5181f1b624d0b',
};

for (const [algorithm, expected] of Object.entries(checkValues) as [ChecksumAlgorithm, string][]) {
  test(`${algorithm} has the catalogue's check value for 123456789`, () => {
    const actual = digest(algorithm, Buffer.from('123456789'));
    assert.is(actual.toString('hex'), expected);
    assert.is(actual.length, digestLength[algorithm]);
  });

  test(`${algorithm} does not depend on how the data is cut`, () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(200), fc.nat(200), (bytes, first, second) => {
        const data = Buffer.from(bytes);
        const [a, b] = [first, second].map((at) => Math.min(at, data.length)).sort((x, y) => x - y) as [
          number,
          number,
        ];
        const cut = digest(algorithm, data.subarray(0, a), data.subarray(a, b), data.subarray(b));
        assert.is(cut.toString('hex'), digest(algorithm, data).toString('hex'));
      }),
    );
  });
}

interface AwsChecksum {
  update(data: Uint8Array): void;
  digest(): Promise<Uint8Array>;
}

test('the tables agree with those of the AWS SDK', async () => {
  const fromSdk = createRequire(createRequire(import.meta.url).resolve('@aws-sdk/client-s3'));
  const aws = fromSdk('@aws-sdk/checksums/crc') as Record<'Crc32c' | 'Crc64Nvme', new () => AwsChecksum>;
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 5000 }), async (bytes) => {
      for (const [algorithm, Type] of [
        ['crc32c', aws.Crc32c],
        ['crc64nvme', aws.Crc64Nvme],
      ] as const) {
        const theirs = new Type();
        theirs.update(bytes);
        assert.is(
          digest(algorithm, Buffer.from(bytes)).toString('hex'),
          Buffer.from(await theirs.digest()).toString('hex'),
        );
      }
    }),
  );
});

test('digests of nothing', () => {
  assert.is(digest('crc32').toString('hex'), '00000000');
  assert.is(digest('crc32c').toString('hex'), '00000000');
  assert.is(digest('crc64nvme').toString('hex'), '0000000000000000');
  assert.is(digest('sha256').toString('hex'), createHash('sha256').digest('hex'));
});

test.run();
