import { randomBytes } from 'node:crypto';
import {
  type ChecksumAlgorithm,
  type ChecksumType,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createChecksum } from '../../src/core/s3/checksum.ts';
import { type Rig, type RiggedProxy, startRig } from '../support/rig.ts';
import type { ObjectStore } from '../support/types.ts';

const MiB = 1024 * 1024;
const bodies = [randomBytes(5 * MiB), randomBytes(MiB + 7)];
const whole = Buffer.concat(bodies);

/** What minio-go (CRC32C of the whole) and the SDKs of AWS may be told to send, as `x-amz-checksum-…` of Complete. */
const cases: readonly (readonly [ChecksumAlgorithm, ChecksumType])[] = [
  ['CRC32', 'FULL_OBJECT'],
  ['CRC32C', 'FULL_OBJECT'],
  ['CRC64NVME', 'FULL_OBJECT'],
  ['CRC32', 'COMPOSITE'],
  ['SHA256', 'COMPOSITE'],
];

function checksum(algorithm: ChecksumAlgorithm, ...data: readonly Buffer[]): Buffer {
  const running = createChecksum(algorithm.toLowerCase() as Parameters<typeof createChecksum>[0]);
  for (const piece of data) running.update(piece);
  return running.digest();
}

function objectChecksum(algorithm: ChecksumAlgorithm, type: ChecksumType): string {
  if (type === 'FULL_OBJECT') return checksum(algorithm, whole).toString('base64');
  const ofParts = bodies.map((body) => checksum(algorithm, body));
  return `${checksum(algorithm, ...ofParts).toString('base64')}-${bodies.length}`;
}

for (const kind of ['versitygw', 'minio'] as const satisfies readonly ObjectStore['kind'][]) {
  const test = suite(`uploads that name a checksum of the whole object, ${kind}`);
  let rig: Rig;
  let proxy: RiggedProxy;

  test.before(async () => {
    rig = await startRig({ kind });
    proxy = await rig.proxy();
  });
  test.after(() => rig?.stop());

  for (const [algorithm, type] of cases)
    test(`${algorithm}, ${type}: completes, and reads back as it was sent`, async () => {
      const at = { Bucket: rig.bucket, Key: `${algorithm}-${type}` };
      const begun = { ...at, ChecksumAlgorithm: algorithm, ChecksumType: type };
      const { UploadId } = await proxy.s3.send(new CreateMultipartUploadCommand(begun));
      const Parts = [];
      for (const [index, Body] of bodies.entries()) {
        const sum = { [`Checksum${algorithm}`]: checksum(algorithm, Body).toString('base64') };
        const part = { ...at, UploadId, PartNumber: index + 1, Body, ...sum };
        const { ETag } = await proxy.s3.send(new UploadPartCommand(part));
        Parts.push({ PartNumber: index + 1, ETag, ...sum });
      }
      const named = { ChecksumType: type, [`Checksum${algorithm}`]: objectChecksum(algorithm, type) };
      const completed = { ...at, UploadId, MultipartUpload: { Parts }, ...named };
      await proxy.s3.send(new CompleteMultipartUploadCommand(completed));
      const { Body } = await proxy.s3.send(new GetObjectCommand(at));
      assert.ok(whole.equals((await Body?.transformToByteArray()) ?? Buffer.alloc(0)));
    });

  test.run();
}
