import { randomBytes } from 'node:crypto';
import { GetObjectCommand, ListObjectVersionsCommand, PutBucketVersioningCommand } from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { MiB, putParts } from '../../attacks/support/stored.ts';
import { type Rig, startRig } from '../../support/rig.ts';

const test = suite('a bucket that begins to keep versions');

let rig: Rig;
test.before(async () => {
  rig = await startRig({ kind: 'minio' });
});
test.after(() => rig?.stop());

test('has one version of an object that was completed a moment later, which stays readable', async () => {
  const [proxy, other] = [await rig.proxy(), await rig.proxy()];
  const Bucket = rig.bucket;
  const body = randomBytes(5 * MiB + 10);
  const parts = [body.subarray(0, 5 * MiB), body.subarray(5 * MiB)];
  // the proxy keeps for a while that the bucket has no versions
  await putParts(proxy.s3, Bucket, 'former', parts);
  await proxy.s3.send(
    new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Enabled' } }),
  );
  await putParts(proxy.s3, Bucket, 'late', parts);
  const list = new ListObjectVersionsCommand({ Bucket, Prefix: 'late' });
  const { Versions = [] } = await rig.store.client.send(list);
  assert.is(Versions.length, 1);
  const { VersionId } = Versions[0] ?? {};
  const { Body } = await other.s3.send(new GetObjectCommand({ Bucket, Key: 'late', VersionId }));
  assert.ok(body.equals((await Body?.transformToByteArray()) ?? Buffer.alloc(0)));
});

test.run();
