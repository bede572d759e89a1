import { ListObjectVersionsCommand } from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { MemoryBudget } from '../../../src/objects/held-memory.ts';
import { createBucketFacts } from '../../../src/objects/state/bucket-facts.ts';
import { UpstreamStateStore } from '../../../src/objects/state/state-store.ts';
import { createUpstream } from '../../../src/objects/upstream/s3-upstream.ts';
import { concurrently } from '../../../src/runtime/lifecycle/wait.ts';
import { startMinio } from '../../support/minio.ts';
import { storeKinds } from '../../support/repetitions.ts';
import type { ObjectStore } from '../../support/types.ts';
import { startVersityGw } from '../../support/versitygw.ts';
import { quiet, rejection } from '../upstream/support.ts';

const stores = {
  versitygw: () => startVersityGw({ versioning: true }),
  ...(storeKinds.includes('minio') && { MinIO: () => startMinio() }),
};
const reservedPrefix = '.svc/';

interface Bed {
  store: ObjectStore;
  state: UpstreamStateStore;
}

function stateOf(store: ObjectStore, stateBucket?: string): UpstreamStateStore {
  const upstream = createUpstream(
    {
      upstream: new URL(store.endpoint),
      region: store.region,
      upstreamSigning: 'auto',
      upstreamChecksum: 'crc32',
    },
    quiet,
    { credentials: () => store },
  );
  return new UpstreamStateStore({
    config: { stateBucket, reservedPrefix },
    upstream,
    buckets: createBucketFacts(upstream),
    memory: new MemoryBudget(),
  });
}

async function listed(state: UpstreamStateStore, bucket: string, prefix: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const page of state.list(bucket, prefix)) {
    for (const { key, lastModified } of page) {
      assert.instance(lastModified, Date);
      keys.push(key);
    }
  }
  return keys;
}

for (const [name, start] of Object.entries(stores)) {
  const test = suite<Bed>(`helper objects in ${name}`);

  test.before(async (bed) => {
    bed.store = await start();
    await bed.store.createBucket('plain');
    await bed.store.createBucket('kept', { versioning: true });
    await bed.store.createBucket('helpers');
    bed.state = stateOf(bed.store);
  });
  test.after(async ({ store, state }) => {
    state?.close();
    await store?.stop();
  });

  test('are written, read and overwritten', async ({ state }) => {
    const key = '.svc/uploads/a/record.json';
    assert.is(await state.get('plain', key, 100), undefined);
    await state.put('plain', key, '{"é":1}');
    assert.is(await state.get('plain', key, 100), '{"é":1}');
    await state.put('plain', key, '{}');
    assert.is(await state.get('plain', key, 100), '{}');
    await state.delete('plain', [key]);
    assert.is(await state.get('plain', key, 100), undefined);
  });

  test('are refused when they are longer than they may be', async ({ state }) => {
    await state.put('plain', '.svc/uploads/long/x', 'x'.repeat(101));
    const refused = await rejection(state.get('plain', '.svc/uploads/long/x', 100));
    assert.match(String(refused.message), /longer than 100 bytes/);
    assert.is((await state.get('plain', '.svc/uploads/long/x', 101))?.length, 101);
  });

  test('are listed in order over several pages, and deleted in several batches', async ({ state }) => {
    const keys = Array.from(
      { length: 1_100 },
      (_, index) => `.svc/uploads/many/${String(index).padStart(5, '0')}`,
    );
    await concurrently(keys, 16, (key) => state.put('plain', key, 'x'));
    await state.put('plain', '.svc/uploads/other/1', 'x');
    assert.equal(await listed(state, 'plain', '.svc/uploads/many/'), keys);
    await state.delete('plain', keys);
    assert.equal(await listed(state, 'plain', '.svc/uploads/many/'), []);
    assert.is(await state.get('plain', '.svc/uploads/other/1', 10), 'x');
  });

  test('leave no version behind where the bucket keeps versions', async ({ state, store }) => {
    const key = '.svc/manifests/hash/one';
    for (const body of ['1', '2']) await state.put('kept', key, body);
    await state.put('kept', '.svc/manifests/hash/two', 'stays');
    await state.delete('kept', [key]);
    const { Versions = [], DeleteMarkers = [] } = await store.client.send(
      new ListObjectVersionsCommand({ Bucket: 'kept' }),
    );
    assert.equal(
      Versions.map(({ Key }) => Key),
      ['.svc/manifests/hash/two'],
    );
    assert.is(DeleteMarkers.length, 0);
  });

  test('lie in the state bucket where one is set', async ({ store }) => {
    const state = stateOf(store, 'helpers');
    await state.put('plain', '.svc/uploads/b/record.json', 'elsewhere');
    assert.is(await state.get('plain', '.svc/uploads/b/record.json', 100), 'elsewhere');
    assert.equal(await listed(state, 'plain', '.svc/uploads/b/'), ['.svc/uploads/b/record.json']);
    state.close();
    const inObjects = stateOf(store);
    assert.is(await inObjects.get('plain', '.svc/uploads/b/record.json', 100), undefined);
    inObjects.close();
  });

  test('say which bucket is missing', async ({ state }) => {
    assert.is((await rejection(state.put('nowhere', '.svc/x', 'x'))).code, 'NoSuchBucket');
    assert.is((await rejection(listed(state, 'nowhere', '.svc/'))).code, 'NoSuchBucket');
  });

  test.run();
}
