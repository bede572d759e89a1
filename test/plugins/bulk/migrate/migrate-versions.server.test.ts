import {
  GetObjectCommand,
  GetObjectLegalHoldCommand,
  GetObjectRetentionCommand,
  ListObjectVersionsCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Bed, startBed } from '../../../clients/bed.ts';
import { storeKinds } from '../../../support/repetitions.ts';
import type { ObjectStore } from '../../../support/types.ts';
import { type BulkSetting, settingOf } from '../bulk-command.ts';
import { migrate, migrateResult } from './migrating.ts';

interface Context {
  readonly bed: Bed;
  readonly setting: BulkSetting;
}

function versionsAt(kind: ObjectStore['kind']): void {
  const test = suite<Context>(`svc proxy migrate in buckets that keep versions, at ${kind}`);

  test.before(async (context) => {
    const bed = await startBed({ store: kind, versioning: true });
    Object.assign(context, { bed, setting: await settingOf(bed) });
  });

  test.after(async ({ bed }) => {
    await bed?.stop();
  });

  test('the latest version is encrypted, and older ones are kept, counted and told', async ({
    bed,
    setting,
  }) => {
    const Bucket = 'versions';
    await bed.store.createBucket(Bucket, { versioning: true });
    const { client } = bed.store;
    const bodies = [bed.payload(100), bed.payload(200), bed.payload(300)] as const;
    const [first, second] = bodies;
    const old = await client.send(new PutObjectCommand({ Bucket, Key: 'a', Body: first }));
    await client.send(new PutObjectCommand({ Bucket, Key: 'a', Body: second }));
    await bed.client.send(new PutObjectCommand({ Bucket, Key: 'b', Body: bodies[2] }));
    const counted = migrateResult(await migrate(setting, `s3://${Bucket}`, '--dry-run', '--json'));
    assert.equal([counted.pending, counted.current, counted.left, counted.leftPlaintext], [1, 1, 2, 2]);

    const result = await migrate(setting, `s3://${Bucket}`);
    assert.is(result.status, 1, result.stdout + result.stderr);
    assert.match(result.stdout, /^Migrated: 1; 1 from plaintext; 200 bytes; 1 already done$/m);
    assert.match(result.stdout, /^Older versions that stay as they are: 2, of which 2 are plaintext;/m);
    const latest = await bed.client.send(new GetObjectCommand({ Bucket, Key: 'a' }));
    assert.equal(Buffer.from((await latest.Body?.transformToByteArray()) ?? []), second);
    const kept = await client.send(new GetObjectCommand({ Bucket, Key: 'a', VersionId: old.VersionId }));
    assert.equal(Buffer.from((await kept.Body?.transformToByteArray()) ?? []), first);
    const { Versions = [], DeleteMarkers = [] } = await client.send(
      new ListObjectVersionsCommand({ Bucket }),
    );
    const ofHelpers = [...Versions, ...DeleteMarkers].filter(({ Key }) => Key?.startsWith('.svc/migrate'));
    assert.equal(ofHelpers, [], 'no version of a helper object stays');
    assert.is(Versions.filter(({ Key }) => Key === 'a').length, 3);

    const again = migrateResult(await migrate(setting, `s3://${Bucket}`, '--json'));
    assert.equal([again.migrated, again.current, again.left, again.complete], [0, 2, 2, false]);
  });

  test('retention and legal hold go with the object', async ({ bed, setting }) => {
    const Bucket = 'locked';
    await bed.store.createBucket(Bucket, { versioning: true, objectLock: true });
    const { client } = bed.store;
    const until = new Date(Date.now() + 86_400_000);
    until.setMilliseconds(0);
    const locked = { ObjectLockMode: 'GOVERNANCE', ObjectLockRetainUntilDate: until } as const;
    const put = (Key: string, more: object) =>
      client.send(new PutObjectCommand({ Bucket, Key, Body: bed.payload(100), ...more }));
    await put('held', { ...locked, ObjectLockLegalHoldStatus: 'ON' });
    await put('free', {});
    const result = migrateResult(await migrate(setting, `s3://${Bucket}`, '--format', '2', '--json'));
    assert.equal([result.migrated, result.faultCount, result.left], [2, 0, 2], JSON.stringify(result));
    const { Metadata } = await client.send(new GetObjectCommand({ Bucket, Key: 'held' }));
    assert.is(Metadata?.['svc-encrypted'], 'true');
    const { Retention } = await client.send(new GetObjectRetentionCommand({ Bucket, Key: 'held' }));
    assert.equal([Retention?.Mode, Retention?.RetainUntilDate?.getTime()], ['GOVERNANCE', until.getTime()]);
    const { LegalHold } = await client.send(new GetObjectLegalHoldCommand({ Bucket, Key: 'held' }));
    assert.is(LegalHold?.Status, 'ON');
  });

  test.run();
}

for (const kind of storeKinds) versionsAt(kind);
