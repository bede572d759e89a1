import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type ChecksumAlgorithm,
  createChecksum,
  digestLength,
  loadChecksums,
} from '../../../src/objects/s3/checksum.ts';

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
  sha512:
    'd9e6762dd1c8eaf6d61b3c6192fc408d4d6d5f1176d0c29169bc24e71c3f274ad27fcd5811b313d681f7e55ec02d73d499c95455b6b5bb503acf574fba8ffe85',
  md5: '25f9e794323b453885f5181f1b624d0b',
  xxhash64: '8cb841db40e6ae83',
  xxhash3: '72dcb18b67a17dff',
  xxhash128: '33119477ede5dcd5e9716427681d5860',
};

test.before(() => loadChecksums(Object.keys(checkValues) as ChecksumAlgorithm[]));

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

for (const algorithm of ['xxhash64', 'xxhash3', 'xxhash128'] as const)
  test(`several bodies at a time have each their own ${algorithm}`, () => {
    const pieces = fc.array(fc.tuple(fc.nat(3), fc.uint8Array({ maxLength: 600 })), { maxLength: 20 });
    fc.assert(
      fc.property(pieces, (order) => {
        const running = [0, 1, 2, 3].map(() => createChecksum(algorithm));
        for (const [index, bytes] of order) running[index]?.update(Buffer.from(bytes));
        for (const [index, checksum] of running.entries()) {
          const own = order.filter(([to]) => to === index).map(([, bytes]) => bytes);
          assert.equal(checksum.digest(), digest(algorithm, Buffer.concat(own)));
        }
      }),
    );
  });

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
