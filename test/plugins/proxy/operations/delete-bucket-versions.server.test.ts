import { randomBytes } from 'node:crypto';
import { AbortMultipartUploadCommand, ListObjectVersionsCommand } from '@aws-sdk/client-s3';
import * as assert from 'uvu/assert';
import { complete, putParts, sendParts } from '../../../attacks/support/stored.ts';
import {
  betweenClearingAndDeleting,
  code,
  content,
  deleteBucket,
  drop,
  dropVersions,
  held,
  hello,
  keep,
  manifests,
  newBucket,
  onEachStore,
  put,
  versionsOf,
} from './support/bucket-bed.ts';

export const timeout = 240_000;

onEachStore('buckets that keep versions are deleted', (test, once) => {
  test('with versions, once all of the callers have gone', async ({ bed }) => {
    const bucket = await newBucket(bed, { versioning: true });
    const { s3 } = bed.proxy;
    await putParts(s3, bucket, 'large', hello);
    await putParts(s3, bucket, 'large', [randomBytes(10)]);
    await drop(s3, bucket, 'large');
    assert.is((await manifests(bed, bucket)).length, 2, 'older versions need them');
    const refused = await code(deleteBucket(s3, bucket));
    assert.is(refused, refused === 'VersionedBucketNotEmpty' ? refused : 'BucketNotEmpty');
    const list = new ListObjectVersionsCommand({ Bucket: bucket });
    for (;;) {
      const { Versions = [], DeleteMarkers = [] } = await s3.send(list);
      const [one, ...others] = [...Versions, ...DeleteMarkers];
      if (one === undefined) break;
      await drop(s3, bucket, one.Key ?? '', one.VersionId);
      if (others.length > 0)
        assert.is.not(await code(deleteBucket(s3, bucket)), 'none', `${others.length} are left`);
    }
    assert.is(await code(deleteBucket(s3, bucket)), 'none');
  });

  test('with versions and delete markers of helper objects alone', async ({ bed }) => {
    const { client } = bed.rig.store;
    const { s3 } = bed.proxy;
    for (const status of ['Enabled', 'Suspended'] as const) {
      const bucket = await newBucket(bed);
      await putParts(s3, bucket, 'large', hello);
      const sent = await sendParts(s3, bucket, 'aborted', hello);
      for (const one of status === 'Enabled' ? [status] : (['Enabled', status] as const))
        await keep(bed, bucket, one);
      // The proxy still takes it for a bucket without versions, so that its deletions leave markers
      await drop(s3, bucket, 'large');
      await s3.send(
        new AbortMultipartUploadCommand({ Bucket: bucket, Key: 'aborted', UploadId: sent.UploadId }),
      );
      for (const key of await held(bed, bucket, '.svc/')) await drop(client, bucket, key);
      assert.is.not(await code(deleteBucket(s3, bucket)), 'none', 'a delete marker of the caller is there');
      await dropVersions(bed, bucket, (key) => !key.startsWith('.svc/'));
      assert.ok(
        (await versionsOf(bed, bucket)).some(({ marker }) => marker),
        status,
      );
      assert.is(await code(deleteBucket(s3, bucket)), 'none', status);
      assert.is(await code(held(bed, bucket)), 'NoSuchBucket');
    }
  });

  test('with an open upload that keeps versions, which can go on if the bucket stays', async ({ bed }) => {
    const bucket = await newBucket(bed, { versioning: true });
    const { s3 } = bed.proxy;
    const sent = await sendParts(s3, bucket, 'open', hello);
    betweenClearingAndDeleting(bed, bucket, () => put(s3, bucket, 'meanwhile').then(() => undefined));
    assert.is.not(await code(deleteBucket(s3, bucket)), 'none');
    bed.relay.meddle(undefined);
    await complete(s3, bucket, 'open', sent);
    assert.is(await content(s3, bucket, 'open'), 'hello');
    await dropVersions(bed, bucket, (key) => !key.startsWith('.svc/'));
    await sendParts(s3, bucket, 'open again', hello);
    assert.is(await code(deleteBucket(s3, bucket)), 'none');
  });

  test('an upload that is begun meanwhile is as good as the bucket', async ({ bed }) => {
    for (const versioning of [false, true]) {
      const bucket = await newBucket(bed, { versioning });
      const { s3 } = bed.proxy;
      await putParts(s3, bucket, 'large', hello);
      await dropVersions(bed, bucket, (key) => key === 'large');
      let sent: Awaited<ReturnType<typeof sendParts>> | undefined;
      betweenClearingAndDeleting(bed, bucket, async () => {
        sent = await sendParts(s3, bucket, 'begun', hello);
      });
      const deleted = await code(deleteBucket(s3, bucket));
      bed.relay.meddle(undefined);
      assert.ok(sent !== undefined);
      assert.is.not(deleted, 'none', 'its records are objects in the bucket');
      await complete(s3, bucket, 'begun', sent as Awaited<ReturnType<typeof sendParts>>);
      assert.is(await content(s3, bucket, 'begun'), 'hello');
    }
  });

  once?.('what a delete marker hides may be of another bucket, and is left alone', async ({ bed }) => {
    const [stateBucket, served] = [await newBucket(bed, { versioning: true }), await newBucket(bed)];
    const { region, accessKeyId, secretAccessKey } = bed.rig.store;
    const upstream = { endpoint: bed.relay.url, region, accessKeyId, secretAccessKey };
    const args = ['--inline-limit', '0', '--state-bucket', stateBucket];
    const other = await bed.rig.proxy({ upstream, args });
    await putParts(other.s3, served, 'large', hello);
    const { client } = bed.rig.store;
    for (const key of await held(bed, stateBucket, '.svc/')) await drop(client, stateBucket, key);
    const before = await versionsOf(bed, stateBucket);
    assert.is.not(await code(deleteBucket(bed.proxy.s3, stateBucket)), 'none');
    assert.equal(await versionsOf(bed, stateBucket), before);
    await dropVersions(
      bed,
      stateBucket,
      () => true,
      (one) => one.marker,
    );
    assert.is(await content(other.s3, served, 'large'), 'hello');
  });
});
