import { randomBytes } from 'node:crypto';
import {
  AbortMultipartUploadCommand,
  CopyObjectCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { complete, putParts, sendParts } from '../../../attacks/support/stored.ts';
import {
  type MeddlingStore,
  type StoreRequest,
  startMeddlingStore,
} from '../../../support/meddling-store.ts';
import { type Rig, type RiggedProxy, startRig } from '../../../support/rig.ts';

/** Processes that are killed and started anew. */
export const timeout = 240_000;

interface Bed {
  rig: Rig;
  relay: MeddlingStore;
  /** Part lists in manifests. */
  proxy: RiggedProxy;
  /** Part lists inline, which is the default; their manifests stay for a time of grace. */
  inline: RiggedProxy;
}

const text = (body: string | Uint8Array) => Buffer.from(body);
const hello = [text('hello')];
let buckets = 0;

async function code(action: Promise<unknown>): Promise<string> {
  return action.then(
    () => 'none',
    (error: Error) => error.name,
  );
}

async function startBed(kind: 'versitygw' | 'minio'): Promise<Bed> {
  const rig = await startRig({ kind, ...(kind === 'versitygw' ? { versioning: true } : {}) });
  const relay = await startMeddlingStore(rig.store.url);
  const { region, accessKeyId, secretAccessKey } = rig.store;
  const upstream = { endpoint: relay.url, region, accessKeyId, secretAccessKey };
  const proxy = await rig.proxy({ upstream, args: ['--inline-limit', '0'] });
  return { rig, relay, proxy, inline: await rig.proxy({ upstream }) };
}

async function newBucket({ rig }: Bed, options?: { versioning: boolean }): Promise<string> {
  buckets += 1;
  const bucket = `bucket-${buckets}`;
  await rig.store.createBucket(bucket, options);
  return bucket;
}

/** Keys that the store itself has. */
async function held({ rig }: Bed, Bucket: string, Prefix = ''): Promise<string[]> {
  const { Contents = [] } = await rig.store.client.send(new ListObjectsV2Command({ Bucket, Prefix }));
  return Contents.map(({ Key = '' }) => Key).filter((key) => !key.endsWith('/'));
}

const manifests = (bed: Bed, bucket: string) => held(bed, bucket, '.svc/manifests/');

async function content(s3: S3Client, Bucket: string, Key: string): Promise<string> {
  const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }));
  return (await Body?.transformToString()) ?? '';
}

const put = (s3: S3Client, Bucket: string, Key: string, Body = 'hello') =>
  s3.send(new PutObjectCommand({ Bucket, Key, Body }));
const drop = (s3: S3Client, Bucket: string, Key: string, VersionId?: string) =>
  s3.send(new DeleteObjectCommand({ Bucket, Key, VersionId }));
const deleteBucket = (s3: S3Client, Bucket: string) => s3.send(new DeleteBucketCommand({ Bucket }));

/** Called once with the second DELETE of the bucket, which comes after the helper objects have gone. */
function betweenClearingAndDeleting(bed: Bed, bucket: string, act: () => Promise<void>): void {
  let seen = 0;
  const isDelete = ({ method, path }: StoreRequest) =>
    method === 'DELETE' && /^\/[^/?]+\/?(\?x-id=[^&]*)?$/.test(path);
  bed.relay.meddle({
    before: async (request) => {
      if (!isDelete(request) || !request.path.startsWith(`/${bucket}`)) return undefined;
      seen += 1;
      if (seen === 2) await act();
      return undefined;
    },
  });
}

for (const kind of ['versitygw', 'minio'] as const) {
  const test = suite<{ bed: Bed }>(`buckets are deleted, ${kind}`);
  /** What rests on the proxy alone needs no second store. */
  const once = kind === 'versitygw' ? test : undefined;

  test.before(async (context) => {
    context.bed = await startBed(kind);
  });
  test.after(async ({ bed }) => {
    await bed?.rig.stop();
    await bed?.relay.stop();
  });
  test.after.each(({ bed }) => bed.relay.meddle(undefined));

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
      assert.is(await code(deleteBucket(other.s3, served)), 'none');
      const odd = await newBucket(bed);
      await put(bed.rig.store.client, odd, '.svc/notes.txt');
      assert.is(await code(deleteBucket(bed.proxy.s3, odd)), 'BucketNotEmpty');
      assert.equal(await held(bed, odd), ['.svc/notes.txt']);
    },
  );

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

  test.run();
}

async function keep({ rig }: Bed, Bucket: string, Status: 'Enabled' | 'Suspended'): Promise<void> {
  await rig.store.client.send(
    new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status } }),
  );
}

interface Held {
  readonly key: string;
  readonly version: string | undefined;
  readonly marker: boolean;
}

/** All that the store itself has. */
async function versionsOf({ rig }: Bed, Bucket: string): Promise<Held[]> {
  const { Versions = [], DeleteMarkers = [] } = await rig.store.client.send(
    new ListObjectVersionsCommand({ Bucket }),
  );
  const told = (marker: boolean) => (one: { Key?: string | undefined; VersionId?: string | undefined }) => ({
    ...{ key: one.Key ?? '', version: one.VersionId, marker },
  });
  return [...Versions.map(told(false)), ...DeleteMarkers.map(told(true))];
}

async function dropVersions(
  bed: Bed,
  bucket: string,
  wanted: (key: string) => boolean,
  which: (one: Held) => boolean = () => true,
): Promise<void> {
  for (const one of await versionsOf(bed, bucket))
    if (wanted(one.key) && which(one)) await drop(bed.rig.store.client, bucket, one.key, one.version);
}
