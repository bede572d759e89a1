import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  GetObjectCommand,
  GetObjectLockConfigurationCommand,
  ListObjectVersionsCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startMinio } from './minio.ts';
import { s3Client } from './object-store.ts';
import { storeKinds } from './repetitions.ts';
import type { ObjectStore, StoreOptions } from './types.ts';
import { startVersityGw } from './versitygw.ts';

type Start = (options?: StoreOptions) => Promise<ObjectStore>;

const stores = { versitygw: startVersityGw, ...(storeKinds.includes('minio') && { MinIO: startMinio }) };

for (const [name, start] of Object.entries<Start>(stores)) {
  const test = suite<{ store: ObjectStore }>(`${name} starter`);

  test.before(async (context) => {
    context.store = await start({ versioning: true });
    await context.store.createBucket('plain');
  });

  test.after(async ({ store }) => {
    await store?.stop();
  });

  test('an object put is read back and lies in the data folder', async ({ store }) => {
    await store.client.send(new PutObjectCommand({ Bucket: 'plain', Key: 'a/b', Body: 'hello' }));
    const got = await store.client.send(new GetObjectCommand({ Bucket: 'plain', Key: 'a/b' }));
    assert.is(await got.Body?.transformToString(), 'hello');
    assert.ok(readdirSync(join(store.dataDir, 'plain', 'a')).includes('b'));
    if (store.kind === 'versitygw') {
      assert.is(readFileSync(join(store.dataDir, 'plain', 'a', 'b'), 'utf8'), 'hello');
    }
  });

  test('signatures are checked', async ({ store }) => {
    const stranger = await s3Client({ ...store, secretAccessKey: 'wrong' });
    const error = await stranger
      .send(new GetObjectCommand({ Bucket: 'plain', Key: 'a/b' }))
      .catch((cause) => cause);
    assert.is(error.name, 'SignatureDoesNotMatch');
  });

  test('versions and object lock work', async ({ store }) => {
    await store.createBucket('versioned', { versioning: true });
    for (const Body of ['one', 'two']) {
      await store.client.send(new PutObjectCommand({ Bucket: 'versioned', Key: 'k', Body }));
    }
    const listed = await store.client.send(new ListObjectVersionsCommand({ Bucket: 'versioned' }));
    assert.is(listed.Versions?.length, 2);
    await store.createBucket('locked', { objectLock: true });
    const lock = await store.client.send(new GetObjectLockConfigurationCommand({ Bucket: 'locked' }));
    assert.is(lock.ObjectLockConfiguration?.ObjectLockEnabled, 'Enabled');
  });

  test('paused it is away, resumed it has its objects', async ({ store }) => {
    await store.client.send(new PutObjectCommand({ Bucket: 'plain', Key: 'kept', Body: 'x' }));
    await store.pause();
    const get = () => store.client.send(new GetObjectCommand({ Bucket: 'plain', Key: 'kept' }));
    assert.is(await get().catch((error) => error.code), 'ECONNREFUSED');
    await store.resume();
    assert.is(await (await get()).Body?.transformToString(), 'x');
  });

  test('with TLS it is reached through its CA', async () => {
    const store = await start({ tls: true });
    try {
      await store.createBucket('secure');
      await store.client.send(new PutObjectCommand({ Bucket: 'secure', Key: 'k', Body: 'x' }));
      assert.match(store.endpoint, /^https:/);
    } finally {
      await store.stop();
    }
  });

  test.run();
}
