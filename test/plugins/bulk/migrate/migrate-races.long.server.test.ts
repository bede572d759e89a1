import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Bed, BUCKET, MiB, sha256, startBed } from '../../../clients/bed.ts';
import { type MeddlingStore, startMeddlingStore } from '../../../support/meddling-store.ts';
import { type BulkSetting, settingOf } from '../bulk-command.ts';
import { put } from '../rewrap/rewrapping.ts';
import { audit, beginMigrate, head, migrate, migrateResult, read } from './migrating.ts';

interface Context {
  readonly bed: Bed;
  readonly setting: BulkSetting;
  readonly relay: MeddlingStore;
}

const test = suite<Context>('svc proxy migrate beside writers, killed, and at stores that lie');

test.before(async (context) => {
  const bed = await startBed();
  const relay = await startMeddlingStore(bed.store.endpoint);
  const setting = await settingOf(bed);
  const store = { ...bed.store, endpoint: relay.url };
  Object.assign(context, { bed, relay, setting: { ...setting, store } });
});

test.after.each(({ relay }) => relay.meddle(undefined));

test.after(async ({ bed, relay }) => {
  await relay?.stop();
  await bed?.stop();
});

const keyOf = (path: string) => decodeURIComponent((path.split('?')[0] ?? '').split('/').slice(2).join('/'));

/** Writes of what is migrated; not those of helper objects. */
const isReplacing = ({ method, path, headers }: Parameters<NonNullable<Meddled>>[0]) =>
  headers['if-match'] !== undefined && !path.includes('.svc/') && method !== 'GET' && method !== 'HEAD';

type Meddled = NonNullable<Parameters<MeddlingStore['meddle']>[0]>['before'];

test('what somebody writes between the reading and the writing is never lost', async ({
  bed,
  relay,
  setting,
}) => {
  const last = new Map<string, Buffer>();
  const keys = Array.from({ length: 60 }, (_, index) => `race/${index}`);
  const write = async (key: string, through = bed.client, bytes = 1500) => {
    const [, body] = await put(through, key, bed.payload(bytes));
    last.set(key, body);
  };
  for (const key of keys) await write(key, bed.store.client);
  await write('race/large', bed.store.client, 6 * MiB);
  await write('race/deleted', bed.store.client);
  const met = new Set<string>();
  relay.meddle({
    async before(request) {
      const key = keyOf(request.path);
      if (!isReplacing(request) || met.has(key)) return undefined;
      const index = Number(key.slice('race/'.length));
      // every fifth through the proxy, and others past it, so that it is plaintext again
      if (index % 5 === 0 || key === 'race/large') met.add(key);
      if (index % 10 === 0) await write(key);
      else if (index % 5 === 0) await write(key, bed.store.client);
      else if (key === 'race/large') await write(key, bed.store.client, 7 * MiB);
      return undefined;
    },
  });
  let running = true;
  let writes = 0;
  const writer = async (own: readonly string[]) => {
    for (let index = 0; running; index++, writes++) await write(own[index % own.length] as string);
  };
  const writers = [writer(keys.slice(0, 10)), writer(keys.slice(10, 20))];
  try {
    const result = migrateResult(
      await migrate(setting, `s3://${BUCKET}/race/`, '--part-size', '5MiB', '--json'),
    );
    assert.equal([result.faultCount, result.complete], [0, true], JSON.stringify(result));
    assert.ok(met.size >= 9 && met.has('race/large') && writes > 0, `${[...met]}, ${writes} beside`);
  } finally {
    running = false;
    await Promise.all(writers);
  }
  for (const [key, body] of last) {
    assert.is(sha256(await read(bed.client, key)), sha256(body), key);
    assert.is((await head(bed.store.client, key)).Metadata?.['svc-encrypted'], 'true', key);
  }
});

test('killed at any time it goes on where it was', async ({ bed, relay, setting }) => {
  const objects = new Map<string, Buffer>();
  for (let index = 100; index < 160; index++)
    objects.set(...(await put(bed.store.client, `kill/${index}`, bed.payload(500))));
  objects.set(...(await put(bed.store.client, 'kill/large', bed.payload(12 * MiB))));
  let written = 0;
  relay.meddle({
    after(request, answer) {
      if (isReplacing(request) && answer.status === 200) written++;
      return answer;
    },
  });
  const args = ['--part-size', '5MiB', '--concurrency', '2'];
  for (const enough of [10, 5, 20]) {
    written = 0;
    const child = await beginMigrate(setting, `s3://${BUCKET}/kill/`, ...args);
    await child.until('writes', () => written >= enough);
    await child.end('SIGKILL');
    for (const [key, body] of objects) assert.is(sha256(await read(bed.client, key)), sha256(body), key);
  }
  const result = migrateResult(await migrate(setting, `s3://${BUCKET}/kill/`, ...args, '--json'));
  assert.ok(result.complete, JSON.stringify(result));
  assert.is(result.current + result.migrated, objects.size);
  assert.ok(result.current >= 35 && result.migrated > 0, JSON.stringify(result));
  for (const [key, body] of objects) assert.is(sha256(await read(bed.client, key)), sha256(body), key);
  const audited = await audit(setting, 'kill/');
  assert.is(audited.status, 0, audited.stdout);
});

for (const [what, method] of [
  ['PutObject', 'PUT'],
  ['CompleteMultipartUpload', 'POST'],
] as const)
  test(`a store that holds ${what} to no condition is refused, unless nobody writes`, async ({
    bed,
    relay,
    setting,
  }) => {
    const key = `unsafe/${method}`;
    const [, body] = await put(bed.store.client, key, bed.payload(100));
    const conditions = new Set<string>();
    relay.meddle({
      before(request) {
        if (request.headers['if-match'] === undefined || request.method === 'GET') return undefined;
        if (!request.path.includes('.svc/')) conditions.add(keyOf(request.path));
        const ignores = request.method === method;
        return ignores ? { status: 200, headers: { etag: '"taken"' }, body: Buffer.alloc(0) } : undefined;
      },
    });
    const refused = await migrate(setting, `s3://${BUCKET}/${key}`, '--json');
    assert.is(refused.status, 78, refused.stdout);
    assert.is(migrateResult(refused).error?.code, 'MIGRATE_UNSAFE');
    assert.equal(migrateResult(refused).unconditional, undefined);
    assert.equal(await read(bed.store.client, key), body);

    const done = await migrate(setting, `s3://${BUCKET}/${key}`, '--nobody-writes');
    assert.is(done.status, 0, done.stdout + done.stderr);
    assert.match(done.stdout, new RegExp(`^Without conditions: the store holds ${what} to none`, 'm'));
    assert.equal([...conditions], []);
    assert.equal(await read(bed.client, key), body);
  });

test('what does not read back ends the run at once', async ({ bed, relay, setting }) => {
  await put(bed.store.client, 'verify/one', bed.payload(100));
  const written = new Set<string>();
  relay.meddle({
    after(request, answer) {
      if (isReplacing(request)) written.add(request.path);
      else if (request.method === 'GET' && written.has(request.path)) {
        const body = Buffer.from(answer.body);
        body[40] = (body[40] as number) ^ 1;
        return { ...answer, body };
      }
      return answer;
    },
  });
  for (const format of ['1', '2']) {
    await put(bed.store.client, 'verify/one', bed.payload(100));
    written.clear();
    const result = await migrate(setting, `s3://${BUCKET}/verify/`, '--format', format, '--json');
    assert.is(result.status, 70, result.stdout);
    assert.is(migrateResult(result).error?.code, 'MIGRATE_VERIFY');
  }
});

test('what is there instead of what was written is encrypted as well', async ({ bed, relay, setting }) => {
  const [key] = await put(bed.store.client, 'instead/one', bed.payload(100));
  let last: Buffer = Buffer.alloc(0);
  relay.meddle({
    async after(request, answer) {
      if (isReplacing(request) && last.length === 0)
        [, last] = await put(bed.store.client, key, bed.payload(80));
      return answer;
    },
  });
  const result = migrateResult(await migrate(setting, `s3://${BUCKET}/instead/`, '--json'));
  assert.equal([result.migrated, result.faultCount, result.complete], [1, 0, true], JSON.stringify(result));
  assert.is((await head(bed.store.client, key)).Metadata?.['svc-encrypted'], 'true');
  assert.equal(await read(bed.client, key), last);
});

test('a store that says that it has written, and has not, or names another ETag', async ({
  bed,
  relay,
  setting,
}) => {
  const [key, body] = await put(bed.store.client, 'says/one', bed.payload(100));
  const other = { etag: '"0123456789abcdef0123456789abcdef"' };
  relay.meddle({
    before: (request) =>
      isReplacing(request) ? { status: 200, headers: other, body: Buffer.alloc(0) } : undefined,
  });
  const dropped = migrateResult(await migrate(setting, `s3://${BUCKET}/says/`, '--json'));
  assert.equal([dropped.migrated, dropped.complete], [0, false], JSON.stringify(dropped));
  assert.is(dropped.faults[0]?.reason, 'OperationAborted');
  assert.equal(await read(bed.store.client, key), body);

  let written = false;
  relay.meddle({
    after(request, answer) {
      if (isReplacing(request)) {
        written = true;
        return { ...answer, headers: { ...answer.headers, ...other } };
      }
      if (request.method !== 'GET' || !written || !request.path.includes('says')) return answer;
      const damaged = Buffer.from(answer.body);
      damaged[40] = (damaged[40] as number) ^ 1;
      return { ...answer, body: damaged };
    },
  });
  const unread = migrateResult(await migrate(setting, `s3://${BUCKET}/says/`, '--json'));
  assert.is(unread.error?.code, 'MIGRATE_VERIFY', JSON.stringify(unread));
});

test('without an ETag no write has a condition, and nothing is written', async ({ bed, relay, setting }) => {
  const [key, body] = await put(bed.store.client, 'etag/none', bed.payload(100));
  relay.meddle({
    after(request, answer) {
      const { etag: _, ...headers } = answer.headers;
      return request.method === 'HEAD' && request.path.includes('etag/') ? { ...answer, headers } : answer;
    },
  });
  const result = migrateResult(await migrate(setting, `s3://${BUCKET}/etag/`, '--json'));
  assert.equal([result.migrated, result.faults[0]?.reason], [0, 'InternalError'], JSON.stringify(result));
  assert.equal(await read(bed.store.client, key), body);
});

test('a listing that names other objects, names that no store should have, or none that ends', async ({
  bed,
  relay,
  setting,
}) => {
  const [outside, plain] = await put(bed.store.client, 'outside/secret', bed.payload(100));
  await put(bed.store.client, 'listed/one', bed.payload(100));
  const listing = (change: (text: string) => string) =>
    relay.meddle({
      after(request, answer) {
        if (!request.path.includes('list-type=2') || request.path.includes('.svc')) return answer;
        const body = Buffer.from(change(answer.body.toString()));
        return { ...answer, headers: { ...answer.headers, 'content-length': body.length }, body };
      },
    });
  const run = () => migrate(setting, `s3://${BUCKET}/listed/`, '--json');

  listing((text) => text.replace('listed/one', 'outside/secret').replace('listed%2Fone', 'outside%2Fsecret'));
  const strayed = await run();
  assert.is(migrateResult(strayed).error?.code, 'MIGRATE_STORE_FAILED', strayed.stdout);
  assert.is(strayed.status, 69);
  assert.equal(await read(bed.store.client, outside), plain);

  listing((text) => text.replace(/listed(\/|%2F)one/, 'listed/../outside/secret'));
  const upwards = migrateResult(await run());
  assert.equal([upwards.migrated, upwards.faultCount], [0, 1], JSON.stringify(upwards));
  assert.equal(await read(bed.store.client, outside), plain);

  listing((text) =>
    text.replace(
      '<IsTruncated>false</IsTruncated>',
      '<IsTruncated>true</IsTruncated><NextContinuationToken>again</NextContinuationToken>',
    ),
  );
  assert.is(migrateResult(await run()).error?.code, 'MIGRATE_STORE_FAILED');
});

test.run();
