import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type AuditCall, readTerms } from '../../../../src/plugins/audit/terms.ts';
import { lookAtBucket } from '../../../../src/plugins/bulk/audit/index.ts';
import { estimate } from '../../../../src/plugins/bulk/audit/tally.ts';
import { type TemporaryFolder, temporaryFolder } from '../../../support/temporary.ts';
import { encrypted, encryptedHeaders, type FakeObject, fakeStore, plain } from './fake-store.ts';

const test = suite('looking at a bucket');
let folder: TemporaryFolder;
test.before(() => {
  folder = temporaryFolder('audit');
});
test.after(() => folder.remove());

const id = { store: 'http://store/', bucket: 'photos', prefix: '', reservedPrefix: '.svc/' };

function look(store: ReturnType<typeof fakeStore>, more: Partial<AuditCall['flags']> = {}, as = id) {
  const flags = {
    ...{ output: 'json', json: false, 'fail-on': 'none', scope: 'all', watch: false },
    ...{ 'operator-namespace': 'svc-system', bucket: 'photos', concurrency: '1', ...more },
  } as AuditCall['flags'];
  const call: AuditCall = { flags, env: {}, version: '0', stdout: { write() {} }, stderr: { write() {} } };
  return lookAtBucket({ store, id: as, call, terms: readTerms(flags), signal: new AbortController().signal });
}

const mixed: readonly FakeObject[] = [
  encrypted('a'),
  encrypted('b', 2),
  encrypted('c', 2),
  plain('d'),
  {
    key: 'e',
    head: { found: true, headers: { ...encryptedHeaders(), 'x-amz-meta-svc-algorithm': 'ROT13' } },
  },
  { key: 'f', head: { found: true, headers: { 'x-amz-meta-svc-encrypted': 'true' } } },
  { key: 'g', head: { found: false } },
  { key: 'h', size: 27, head: { found: true, headers: encryptedHeaders() } },
  { key: 'i', head: { found: 'refused', status: 400 } },
  plain('.svc/uploads/x'),
];

test('counts what each object is, under which key and version', async () => {
  const store = fakeStore(mixed);
  const { tally } = await look(store);
  const { objects, encrypted, plaintext, unreadable, vanished, helpers } = tally;
  assert.equal(
    { objects, encrypted, plaintext, unreadable, vanished, helpers },
    {
      ...{ objects: 9, encrypted: 3, plaintext: 1, unreadable: 4, vanished: 1, helpers: 1 },
    },
  );
  assert.equal(tally.keyVersions, { 'svc v1': 1, 'svc v2': 2 });
  assert.equal(tally.plaintextKeys, ['d']);
  assert.equal(tally.errors, {
    ...{ 'malformed-metadata': 1, 'partial-metadata': 1, 'body-too-short': 1, 'metadata-refused': 1 },
  });
  assert.not.ok(store.heads.includes('.svc/uploads/x'));
});

test('an empty object with its seal in the metadata is ciphertext, one with a body beside it is none', async () => {
  const headers = {
    ...encryptedHeaders(),
    'x-amz-meta-svc-empty-seal': Buffer.alloc(28).toString('base64'),
  };
  const objects = [0, 28].map((size) => ({ key: `${size}/`, size, head: { found: true, headers } as const }));
  const { tally } = await look(fakeStore(objects));
  assert.equal([tally.encrypted, tally.unreadableKeys], [1, ['28/']]);
});

test('lists no more keys than it was asked for, and counts them all', async () => {
  const { tally } = await look(fakeStore(Array.from({ length: 50 }, (_, at) => plain(`k${at}`))), {
    list: '2',
  });
  assert.is(tally.plaintextKeys.length, 2);
  assert.is(tally.plaintext, 50);
});

test('names that others choose take bounded room', async () => {
  const objects = Array.from({ length: 1_500 }, (_, at): FakeObject => {
    const headers = encryptedHeaders(1, `${'n'.repeat(500)}`.slice(0, 1 + (at % 100)) + at);
    return { key: `k${at}`, head: { found: true, headers } };
  });
  const { tally } = await look(fakeStore(objects, 1_000));
  assert.ok(Object.keys(tally.keyVersions).length <= 1_001);
  const all = Object.values(tally.keyVersions).reduce((sum, number) => sum + number, 0);
  assert.is(all, 1_500);
});

test('wherever it is interrupted, going on counts each object once', async () => {
  const whole = (await look(fakeStore(mixed))).tally;
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 9 }),
      fc.integer({ min: 1, max: 5 }),
      async (failAt, pageSize) => {
        const resume = join(folder.path, `p-${failAt}-${pageSize}-${Math.random()}`);
        const store = fakeStore(mixed, pageSize);
        store.failAtHead = failAt;
        await look(store, { resume }).catch(() => undefined);
        store.failAtHead = Number.POSITIVE_INFINITY;
        const { tally } = await look(store, { resume });
        assert.equal(tally, whole);
      },
    ),
  );
});

test('what was counted is not asked for again', async () => {
  const resume = join(folder.path, 'again');
  const store = fakeStore(mixed, 3);
  store.failAtHead = 5;
  await look(store, { resume }).then(
    () => assert.unreachable(),
    () => undefined,
  );
  store.heads.length = 0;
  store.failAtHead = Number.POSITIVE_INFINITY;
  await look(store, { resume });
  assert.not.ok(store.heads.includes('a'), store.heads.join());
  assert.is(statSync(resume).mode & 0o777, 0o600);
  assert.equal(
    readdirSync(folder.path).filter((name) => name.endsWith('.tmp')),
    [],
  );
});

test('a complete audit begins anew', async () => {
  const resume = join(folder.path, 'complete');
  await look(fakeStore([plain('a')]), { resume });
  const { tally } = await look(fakeStore([plain('a'), plain('b')]), { resume });
  assert.is(tally.objects, 2);
});

test('the file of another audit, or of something else, is refused and left as it is', async () => {
  const resume = join(folder.path, 'other');
  await look(fakeStore([plain('a')]), { resume });
  const before = readFileSync(resume, 'utf8');
  for (const other of [{ bucket: 'papers' }, { prefix: 'x/' }, { store: 'http://other/' }]) {
    const error = await failure(look(fakeStore([plain('a')]), { resume }, { ...id, ...other }));
    assert.match(error.details.join(), /is of an audit with another (bucket|prefix|store)/);
    assert.is(error.exitStatus, 3);
  }
  assert.is(readFileSync(resume, 'utf8'), before);
  const unusable = join(folder.path, 'unusable');
  const kept = JSON.parse(before);
  const half = { ...kept, done: false, after: 'a' };
  for (const text of [
    ...['', '{', 'null', '[]', '{"version":2}', '{"version":1}'],
    ...[
      { ...half, tally: { ...kept.tally, objects: -1 } },
      { ...half, tally: {} },
      { ...half, after: 3 },
    ].map((one) => JSON.stringify(one)),
  ]) {
    writeFileSync(unusable, text);
    assert.is((await failure(look(fakeStore([plain('a')]), { resume: unusable }))).exitStatus, 3, text);
    assert.is(readFileSync(unusable, 'utf8'), text);
  }
  const nowhere = join(folder.path, 'no', 'folder');
  assert.is((await failure(look(fakeStore([plain('a')]), { resume: nowhere }))).exitStatus, 3);
  assert.not.ok(existsSync(nowhere));
});

test('a sample looks at so many, each once, and estimates between bounds', async () => {
  const objects = Array.from({ length: 100 }, (_, at) =>
    at % 4 === 0 ? plain(`k${at}`) : encrypted(`k${at}`),
  );
  const store = fakeStore(objects, 7);
  const { tally, sample } = await look(store, { sample: '40' });
  assert.is(sample?.listed, 100);
  assert.is(tally.objects, 40);
  assert.is(new Set(store.heads).size, 40);
  assert.is(store.heads.length, 40);
  const all = await look(fakeStore(objects, 7), { sample: '100' });
  assert.equal(all.sample?.encrypted, { share: 0.75, low: 0.75, high: 0.75 });
});

test('an estimate holds its share, and is within 0 and 1', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 10_000 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (looked, part) => {
        const { share, low, high } = estimate(Math.round(looked * part), looked, looked * 2);
        assert.ok(low >= 0 && high <= 1 && low <= share + 1e-9 && share <= high + 1e-9);
      },
    ),
  );
  const none = estimate(0, 100, 1_000);
  assert.ok(none.high > 0.03 && none.high < 0.04, 'the rule of three, roughly');
});

async function failure(
  promise: Promise<unknown>,
): Promise<{ details: readonly string[]; exitStatus: number }> {
  return promise.then(
    () => assert.unreachable() as never,
    (error) => error,
  );
}

test.run();
