import {
  CreateBucketCommand,
  GetObjectRetentionCommand,
  ListObjectVersionsCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Bed, BUCKET, MiB, startBed } from '../../../clients/bed.ts';
import type { BulkSetting } from '../bulk-command.ts';
import { keyConfig, put, read, rewrap, rewrapResult, upload } from './rewrapping.ts';

interface Context {
  readonly bed: Bed;
  readonly setting: BulkSetting;
}

const test = suite<Context>('svc proxy rewrap where versions are kept');

test.before(async (context) => {
  const bed = await startBed({ store: 'minio', args: ['--inline-limit', '8MiB'] });
  const vault = { addr: bed.bao.url, token: await bed.bao.policyToken() };
  Object.assign(context, { bed, setting: { store: { ...bed.store, endpoint: bed.log.url }, vault } });
});

test.after(async ({ bed }) => {
  await bed?.stop();
});

async function versionsOf(client: S3Client, Bucket: string, Prefix: string): Promise<string[]> {
  const { Versions = [], DeleteMarkers = [] } = await client.send(
    new ListObjectVersionsCommand({ Bucket, Prefix }),
  );
  const told = (entries: readonly object[]) => entries.map((entry) => JSON.stringify(entry));
  return [...told(Versions), ...told(DeleteMarkers)];
}

test('a bucket without versions', async ({ bed, setting }) => {
  const objects = new Map([
    await put(bed.client, 'plain/a b+c', bed.payload(100)),
    await put(bed.client, 'plain/large', bed.payload(2 * MiB)),
    await upload(bed, 'plain/manifest', 3),
  ]);
  await bed.bao.rotate();
  const report = rewrapResult(await rewrap(setting, `s3://${BUCKET}/plain/`, '--json'));
  assert.equal([report.recorded, report.complete], [3, true], JSON.stringify(report));
  await keyConfig(bed, 'svc', { min_decryption_version: report.target.keyVersion });
  try {
    for (const [key, body] of objects) assert.equal(await read(bed.client, key), body, key);
  } finally {
    await keyConfig(bed, 'svc', { min_decryption_version: 1 });
  }
});

test('every version of every object, locked ones too, and none of them is another afterwards', async ({
  bed,
  setting,
}) => {
  const { client } = bed;
  await bed.store.client.send(new CreateBucketCommand({ Bucket: 'kept', ObjectLockEnabledForBucket: true }));
  const bodies = new Map<string, Buffer>();
  const add = async (Key: string, Body: Buffer, more: object = {}) => {
    const { VersionId } = await client.send(new PutObjectCommand({ Bucket: 'kept', Key, Body, ...more }));
    bodies.set(`${Key} ${VersionId}`, Body);
  };
  const until = new Date(Date.now() + 3_600_000);
  await add('one', bed.payload(100));
  await add('one', bed.payload(200), { ObjectLockMode: 'GOVERNANCE', ObjectLockRetainUntilDate: until });
  await bed.bao.rotate();
  await add('one', bed.payload(300));
  await add('ü +%/two', bed.payload(2 * MiB));
  await bed.bao.rotate();
  const before = await versionsOf(bed.store.client, 'kept', '');

  const counted = rewrapResult(await rewrap(setting, 's3://kept', '--dry-run', '--json'));
  assert.equal(
    counted.keyVersions.map(({ keyVersion, objects, olderVersions }) => [keyVersion, objects, olderVersions]),
    [
      [counted.target.keyVersion - 2, 0, 2],
      [counted.target.keyVersion - 1, 2, 0],
    ],
  );
  bed.log.clear();
  const report = rewrapResult(await rewrap(setting, 's3://kept', '--json'));
  assert.equal([report.listed, report.recorded, report.complete], [4, 4, true], JSON.stringify(report));
  const moved = bed.log.requests.filter(({ path }) => !path.includes('.svc/'));
  assert.is(
    moved.reduce((sum, { requestBytes }) => sum + requestBytes, 0),
    0,
  );
  const after = await versionsOf(bed.store.client, 'kept', '');
  assert.equal(
    after.filter((version) => !version.includes('.svc/')),
    before,
  );

  await keyConfig(bed, 'svc', { min_decryption_version: report.target.keyVersion });
  for (const [name, body] of bodies) {
    const [Key = '', VersionId] = name.split(/ (?=[^ ]+$)/);
    assert.equal(await read(client, Key, VersionId, 'kept'), body, name);
  }
  const [, locked = ''] = [...bodies.keys()].map((name) => name.split(' ')[1] as string);
  const at = { Bucket: 'kept', Key: 'one', VersionId: locked };
  const { Retention } = await bed.store.client.send(new GetObjectRetentionCommand(at));
  assert.is(Retention?.Mode, 'GOVERNANCE');
  const again = rewrapResult(await rewrap(setting, 's3://kept', '--json'));
  assert.equal([again.current, again.recorded, again.complete], [4, 0, true]);
});

test.run();
