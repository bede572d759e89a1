import {
  AbortMultipartUploadCommand,
  CopyObjectCommand,
  DeleteObjectsCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import * as assert from 'uvu/assert';
import { complete, putParts, sendParts } from '../../../attacks/support/stored.ts';
import {
  betweenClearingAndDeleting,
  code,
  content,
  deleteBucket,
  drop,
  held,
  hello,
  manifests,
  newBucket,
  onEachStore,
  put,
  text,
} from './support/bucket-bed.ts';

/** Processes that are killed and started anew. */
export const timeout = 240_000;

onEachStore('buckets are deleted', (test, once) => {
  test('that had uploads in parts', async ({ bed }) => {
    for (const via of [bed.proxy, bed.inline]) {
      const bucket = await newBucket(bed);
      await putParts(via.s3, bucket, 'large', hello);
      await sendParts(via.s3, bucket, 'aborted', hello).then(({ UploadId }) =>
        via.s3.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key: 'aborted', UploadId })),
      );
      assert.is(await code(deleteBucket(via.s3, bucket)), 'BucketNotEmpty');
      assert.is(await content(via.s3, bucket, 'large'), 'hello');
      await drop(via.s3, bucket, 'large');
      assert.equal(await manifests(bed, bucket), [], 'also of one that is within its time of grace');
      assert.is(await code(deleteBucket(via.s3, bucket)), 'none');
      assert.is(await code(held(bed, bucket)), 'NoSuchBucket');
    }
  });

  test('manifests go with the objects that are overwritten or deleted', async ({ bed }) => {
    const bucket = await newBucket(bed);
    const { s3 } = bed.proxy;
    const large = () => putParts(s3, bucket, 'large', hello);
    await put(s3, bucket, 'small');
    const overwritings: readonly (readonly [string, number, () => Promise<unknown>])[] = [
      ['PUT', 0, () => put(s3, bucket, 'large')],
      [
        'copy',
        0,
        () => s3.send(new CopyObjectCommand({ Bucket: bucket, Key: 'large', CopySource: `${bucket}/small` })),
      ],
      ['Complete', 1, large],
      [
        'copy onto itself',
        1,
        () =>
          s3.send(
            new CopyObjectCommand({
              Bucket: bucket,
              Key: 'large',
              CopySource: `${bucket}/large`,
              MetadataDirective: 'REPLACE',
              Metadata: { a: 'b' },
            }),
          ),
      ],
      ['DELETE', 0, () => drop(s3, bucket, 'large')],
      [
        'multi-delete',
        0,
        () => s3.send(new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects: [{ Key: 'large' }] } })),
      ],
    ];
    for (const [label, left, overwrite] of overwritings) {
      await large();
      const [before] = await manifests(bed, bucket);
      await overwrite();
      const after = await manifests(bed, bucket);
      assert.is(after.length, left, label);
      assert.not.ok(after.includes(before ?? ''), label);
      if (left > 0) assert.is(await content(s3, bucket, 'large'), 'hello', label);
    }
  });

  once?.('a write that is refused takes no manifest away', async ({ bed }) => {
    const bucket = await newBucket(bed);
    const { s3 } = bed.proxy;
    await putParts(s3, bucket, 'large', hello);
    const refused = s3.send(
      new PutObjectCommand({ Bucket: bucket, Key: 'large', Body: 'x', IfNoneMatch: '*' }),
    );
    assert.is(await code(refused), 'PreconditionFailed');
    assert.is((await manifests(bed, bucket)).length, 1);
    assert.is(await content(s3, bucket, 'large'), 'hello');
  });

  once?.('with what a Complete left that failed at the store', async ({ bed }) => {
    const bucket = await newBucket(bed);
    const { s3 } = bed.proxy;
    const sent = await sendParts(s3, bucket, 'failed', hello);
    bed.relay.meddle({
      before: ({ method, path }) =>
        method === 'POST' && path.includes('uploadId=')
          ? { status: 400, headers: {}, body: text('<Error><Code>InvalidRequest</Code></Error>') }
          : undefined,
    });
    assert.is(await code(complete(s3, bucket, 'failed', sent)), 'InvalidRequest');
    bed.relay.meddle(undefined);
    assert.is((await manifests(bed, bucket)).length, 1);
    await s3.send(
      new AbortMultipartUploadCommand({ Bucket: bucket, Key: 'failed', UploadId: sent.UploadId }),
    );
    assert.equal(await held(bed, bucket), []);
  });

  test('with an open upload, as the store does it, and not without asking the store', async ({ bed }) => {
    const bucket = await newBucket(bed);
    const { s3 } = bed.proxy;
    const sent = await sendParts(s3, bucket, 'open', hello);
    await put(s3, bucket, 'callers');
    const before = await held(bed, bucket);
    assert.is(await code(deleteBucket(s3, bucket)), 'BucketNotEmpty');
    assert.equal(await held(bed, bucket), before, 'a bucket with an object in it is left alone');
    await drop(s3, bucket, 'callers');
    betweenClearingAndDeleting(bed, bucket, () => put(s3, bucket, 'meanwhile').then(() => undefined));
    assert.is(await code(deleteBucket(s3, bucket)), 'BucketNotEmpty');
    bed.relay.meddle(undefined);
    assert.is(await content(s3, bucket, 'meanwhile'), 'hello');
    await bed.proxy.restart();
    await bed.proxy.reconnect();
    await complete(bed.proxy.s3, bucket, 'open', sent);
    assert.is(await content(bed.proxy.s3, bucket, 'open'), 'hello');
    for (const key of ['open', 'meanwhile']) await drop(bed.proxy.s3, bucket, key);
    await sendParts(bed.proxy.s3, bucket, 'open again', hello);
    assert.is(await code(deleteBucket(bed.proxy.s3, bucket)), 'none');
  });

  once?.('an upload in parts or a copy that is completed meanwhile can be read', async ({ bed }) => {
    const source = await newBucket(bed);
    await putParts(bed.proxy.s3, source, 'source', hello);
    for (const write of ['Complete', 'copy']) {
      const bucket = await newBucket(bed);
      const { s3 } = bed.proxy;
      const sent = await sendParts(s3, bucket, 'large', hello);
      let written: Promise<unknown> = Promise.resolve();
      // The manifest is there when the bucket is looked at, and the object is not
      const reached = Promise.withResolvers<void>();
      const go = Promise.withResolvers<void>();
      let deletes = 0;
      bed.relay.meddle({
        before: async ({ method, path, headers }) => {
          const isWrite =
            (method === 'POST' && path.startsWith(`/${bucket}/large?uploadId=`)) ||
            (method === 'PUT' && path.startsWith(`/${bucket}/large`) && 'x-amz-copy-source' in headers);
          if (isWrite) {
            reached.resolve();
            await go.promise;
          }
          if (method === 'DELETE' && path.startsWith(`/${bucket}`) && ++deletes === 2) {
            assert.equal(await held(bed, bucket), [], 'cleared');
            go.resolve();
            await written;
          }
          return undefined;
        },
      });
      const copy = { Bucket: bucket, Key: 'large', CopySource: `${source}/source` };
      written = write === 'copy' ? s3.send(new CopyObjectCommand(copy)) : complete(s3, bucket, 'large', sent);
      await reached.promise;
      assert.is(await code(deleteBucket(s3, bucket)), 'BucketNotEmpty', write);
      await written;
      bed.relay.meddle(undefined);
      await bed.proxy.restart();
      await bed.proxy.reconnect();
      assert.is(await content(bed.proxy.s3, bucket, 'large'), 'hello', write);
    }
  });

  once?.('what another DeleteBucket has cleared and puts back is left alone', async ({ bed }) => {
    const bucket = await newBucket(bed);
    const { client } = bed.rig.store;
    const sent = await sendParts(bed.proxy.s3, bucket, 'open', hello);
    const record = (await held(bed, bucket)).find((key) => key.endsWith('/create')) ?? '';
    const kept = await content(client, bucket, record);
    let cleared = false;
    bed.relay.meddle({
      before: async ({ method, path }) => {
        if (method === 'GET' && path.startsWith(`/${bucket}/`) && path.includes('/create')) {
          await drop(client, bucket, record);
          cleared = true;
        }
        if (method === 'POST' && path.startsWith(`/${bucket}`) && path.includes('?delete')) {
          await put(client, bucket, record, kept);
          await put(client, bucket, 'meanwhile');
        }
        return undefined;
      },
    });
    assert.is(await code(deleteBucket(bed.proxy.s3, bucket)), 'BucketNotEmpty');
    bed.relay.meddle(undefined);
    assert.ok(cleared);
    await bed.proxy.restart();
    await bed.proxy.reconnect();
    await complete(bed.proxy.s3, bucket, 'open', sent);
    assert.is(await content(bed.proxy.s3, bucket, 'open'), 'hello');
  });

  once?.('a process that is killed in the middle leaves what the next one clears', async ({ bed }) => {
    const bucket = await newBucket(bed);
    await putParts(bed.proxy.s3, bucket, 'large', hello);
    bed.relay.meddle({
      after: async ({ method, path }, answer) => {
        if (method === 'PUT' && path.startsWith(`/${bucket}/large`)) await bed.proxy.kill('SIGKILL');
        return answer;
      },
    });
    assert.is.not(await code(put(bed.proxy.s3, bucket, 'large', 'newer')), 'none');
    bed.relay.meddle(undefined);
    await bed.proxy.restart();
    await bed.proxy.reconnect();
    assert.is(await content(bed.proxy.s3, bucket, 'large'), 'newer');
    assert.is((await manifests(bed, bucket)).length, 1);
    await drop(bed.proxy.s3, bucket, 'large');
    betweenClearingAndDeleting(bed, bucket, () => bed.proxy.kill('SIGKILL').then(() => undefined));
    const one = code(deleteBucket(bed.proxy.s3, bucket));
    assert.is.not(await one, 'none');
    bed.relay.meddle(undefined);
    await bed.proxy.restart();
    await bed.proxy.reconnect();
    assert.ok(['none', 'NoSuchBucket'].includes(await code(deleteBucket(bed.proxy.s3, bucket))));
    assert.is(await code(held(bed, bucket)), 'NoSuchBucket');
  });

  once?.(
    'a bucket that holds helper objects of others, or what nobody knows, is not cleared',
    async ({ bed }) => {
      const stateBucket = await newBucket(bed);
      const served = await newBucket(bed);
      const { region, accessKeyId, secretAccessKey } = bed.rig.store;
      const upstream = { endpoint: bed.relay.url, region, accessKeyId, secretAccessKey };
      const other = await bed.rig.proxy({
        upstream,
        args: ['--inline-limit', '0', '--state-bucket', stateBucket],
      });
      await putParts(other.s3, served, 'large', hello);
      const before = await held(bed, stateBucket);
      assert.ok(before.some((key) => key.startsWith('.svc/manifests/')));
      assert.is(await code(deleteBucket(bed.proxy.s3, stateBucket)), 'BucketNotEmpty');
      assert.is(await code(deleteBucket(other.s3, stateBucket)), 'AccessDenied');
      assert.equal(await held(bed, stateBucket), before);
      await drop(other.s3, served, 'large');
      const done = await held(bed, stateBucket);
      assert.ok(done.length > 0 && done.every((key) => key.endsWith('/done')), `${done}`);
      assert.is(await code(deleteBucket(bed.proxy.s3, stateBucket)), 'BucketNotEmpty');
      assert.equal(await held(bed, stateBucket), done, 'a Complete may be repeated for some time');
      assert.is(await code(deleteBucket(other.s3, served)), 'none');
      for (const [key, body] of [
        ['done', JSON.stringify({ v: 1, list: 'of an earlier release', etag: '"e"' })],
        ['00001/a', ''],
      ] as const) {
        const unknown = await newBucket(bed);
        await put(bed.rig.store.client, unknown, `.svc/uploads/${'a'.repeat(64)}/${key}`, body);
        assert.is(await code(deleteBucket(bed.proxy.s3, unknown)), 'BucketNotEmpty', key);
        assert.is((await held(bed, unknown)).length, 1);
      }
      const odd = await newBucket(bed);
      await put(bed.rig.store.client, odd, '.svc/notes.txt');
      assert.is(await code(deleteBucket(bed.proxy.s3, odd)), 'BucketNotEmpty');
      assert.equal(await held(bed, odd), ['.svc/notes.txt']);
    },
  );
});
