import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { envelopeHeaders, type Headers } from '../../../../src/objects/format/metadata.ts';
import {
  createRecordKey,
  doneRecordKey,
  manifestBytes,
  manifestKey,
  partRecordKey,
} from '../../../../src/objects/format/records.ts';
import { recordId, rewrapRecordKey, rewrapRecordText } from '../../../../src/objects/format/rewrap-record.ts';
import { uploadRecordText } from '../../../../src/objects/multipart/upload-record.ts';
import type {
  CommandStore,
  ListedObject,
  OpenUpload,
} from '../../../../src/plugins/bulk/engine/command-store.ts';
import { findGarbage, type GcOptions } from '../../../../src/plugins/bulk/gc/garbage.ts';
import { partEntry, partList, wrapped } from '../../../objects/parts.ts';

const test = suite('gc');
const hour = 3_600_000;
const now = 1000 * hour;
const prefix = '.svc/';

class FakeStore implements Omit<CommandStore, 'head' | 'delete' | 'close'> {
  readonly objects = new Map<string, ListedObject & { body: string; bucket: string }>();
  readonly uploads: (OpenUpload & { bucket: string })[] = [];
  readonly headers = new Map<string, Headers[]>();

  put(bucket: string, key: string, body: string, ageHours: number) {
    this.objects.set(`${bucket}/${key}`, {
      bucket,
      key,
      body,
      size: body.length,
      modified: now - ageHours * hour,
    });
  }
  async buckets() {
    return ['a', 'b'];
  }
  async exists(bucket: string) {
    return bucket !== 'gone';
  }
  async *list(bucket: string, start: string): AsyncIterable<readonly ListedObject[]> {
    const all = [...this.objects.values()].filter((o) => o.bucket === bucket && o.key.startsWith(start));
    for (const object of all.sort((x, y) => (x.key < y.key ? -1 : 1))) yield [object];
  }
  async *openUploads(bucket: string): AsyncIterable<readonly OpenUpload[]> {
    yield this.uploads.filter((upload) => upload.bucket === bucket);
  }
  async read(bucket: string, key: string) {
    return this.objects.get(`${bucket}/${key}`)?.body;
  }
  async *versions(bucket: string, key: string): AsyncIterable<Headers> {
    yield* this.headers.get(`${bucket}/${key}`) ?? [];
  }
}

const options = (more: Partial<GcOptions> = {}): GcOptions => ({
  buckets: undefined,
  reservedPrefix: prefix,
  stateBucket: undefined,
  minAge: 24 * hour,
  now,
  ...more,
});

const { signal } = new AbortController();

async function found(store: FakeStore, more: Partial<GcOptions> = {}): Promise<string[]> {
  const rows: string[] = [];
  await findGarbage(store, options(more), signal, ({ kind, bucket, keys, reason }) => {
    rows.push(`${kind} ${bucket} ${keys.length} ${reason}`);
  });
  return rows;
}

function upload(store: FakeStore, uploadId: string, ageHours: number, place = 'a', bucket = 'a') {
  const record = {
    bucket,
    key: 'k',
    uploadId,
    manifest: 'AAAAAAAAAAAAAAAAAAAAAA',
    keyName: 'svc',
    keyVersion: 1,
    seal: wrapped(),
    binding: 'key',
    userMetadata: 0,
    repeat: {},
  } as const;
  store.put(place, createRecordKey(prefix, uploadId), uploadRecordText(record, Buffer.alloc(32)), ageHours);
  store.put(place, partRecordKey(prefix, uploadId, { part: partEntry(1), etag: 'e' }), '', ageHours);
}

test('records of vanished uploads are garbage once they are a day old', async () => {
  const store = new FakeStore();
  upload(store, 'gone', 30);
  upload(store, 'young', 23);
  upload(store, 'open', 30);
  store.uploads.push({ bucket: 'a', key: 'k', uploadId: 'open' });
  assert.equal(await found(store), ['upload-records a 2 upload no longer exists']);
});

test('one young record keeps the whole upload', async () => {
  const store = new FakeStore();
  upload(store, 'gone', 300);
  store.put('a', partRecordKey(prefix, 'gone', { part: partEntry(2), etag: 'e' }), '', 1);
  assert.equal(await found(store), []);
});

test('a done record goes after its day', async () => {
  const store = new FakeStore();
  store.put('a', doneRecordKey(prefix, 'u'), '{"v":1,"list":"x","etag":"y"}', 25);
  assert.equal(await found(store), ['upload-records a 1 upload was completed']);
});

test('in a shared state bucket, records of buckets that were not named stay', async () => {
  const store = new FakeStore();
  upload(store, 'mine', 30, 'state', 'a');
  upload(store, 'theirs', 30, 'state', 'c');
  store.put('state', doneRecordKey(prefix, 'unknown'), '{"v":1,"list":"x","etag":"y"}', 25);
  assert.is((await found(store, { stateBucket: 'state', buckets: ['a'] })).length, 1);
  assert.is((await found(store, { stateBucket: 'state' })).length, 3);
});

function manifest(store: FakeStore, ageHours: number) {
  const list = partList(2);
  const name = { bucket: 'a', key: 'big' };
  store.put('a', manifestKey(prefix, name, list.manifest), String(manifestBytes(name, list)), ageHours);
  const scheme = { keyName: 'svc', keyVersion: 1, binding: 'key' } as const;
  const pointer = envelopeHeaders({
    ...scheme,
    keys: { form: 'pointer', manifest: list.manifest, seal: list.seal },
  });
  const inline = envelopeHeaders({ ...scheme, keys: { form: 'inline', list } });
  return { list, pointer, inline };
}

test('a manifest is kept while any version in any bucket names it', async () => {
  for (const place of ['a/big', 'b/big']) {
    const store = new FakeStore();
    const { pointer } = manifest(store, 100);
    store.headers.set(place, [{}, pointer]);
    assert.equal(await found(store), [], place);
  }
});

test('a manifest that nothing names is garbage, also when the object has its list inline', async () => {
  const alone = new FakeStore();
  manifest(alone, 100);
  assert.equal(await found(alone), ['manifest a 1 no object names it']);
  const inlined = new FakeStore();
  inlined.headers.set('a/big', [manifest(inlined, 100).inline]);
  assert.equal(await found(inlined), ['manifest a 1 no object names it']);
});

test('in a state bucket, manifests of buckets that are gone go, and those of hidden ones stay', async () => {
  const store = new FakeStore();
  for (const bucket of ['gone', 'hidden']) {
    const list = partList(2);
    const name = { bucket, key: 'big' };
    store.put('state', manifestKey(prefix, name, list.manifest), String(manifestBytes(name, list)), 100);
  }
  const rows = await found(store, { stateBucket: 'state' });
  assert.equal(rows, ['manifest state 1 its bucket no longer exists']);
  assert.equal(await found(store, { stateBucket: 'state', buckets: ['a'] }), []);
});

test('a manifest that is young, unreadable, misplaced or of an open upload is kept', async () => {
  const young = new FakeStore();
  manifest(young, 23);
  assert.equal(await found(young), []);
  const strange = new FakeStore();
  strange.put('a', `${prefix}manifests/x/y`, 'not json', 100);
  strange.put(
    'a',
    `${prefix}manifests/x/z`,
    String(manifestBytes({ bucket: 'a', key: 'big' }, partList(1))),
    100,
  );
  assert.equal(await found(strange), []);
  const open = new FakeStore();
  manifest(open, 100);
  open.uploads.push({ bucket: 'a', key: 'big', uploadId: 'u' });
  assert.equal(await found(open), []);
});

test('metadata that cannot be understood keeps the manifest', async () => {
  const store = new FakeStore();
  manifest(store, 100);
  store.headers.set('a/big', [{ 'x-amz-meta-svc-encrypted': 'true' }]);
  assert.equal(await found(store), []);
});

test('records of rewrapped keys go with the last version that has the keys they replace', async () => {
  const store = new FakeStore();
  const record = (key: string, id: string, ageHours = 48) => {
    const text = rewrapRecordText({ bucket: 'a', key, keyName: 'svc', keys: { object: wrapped(2) } });
    store.put('a', rewrapRecordKey(prefix, { bucket: 'a', key }, id), text, ageHours);
  };
  const headers = (keys: Parameters<typeof envelopeHeaders>[0]['keys']) =>
    envelopeHeaders({ keys, keyName: 'svc', keyVersion: 1, binding: 'key' });
  const list = partList(1);
  const [one, other] = [wrapped(1), wrapped(2)];
  store.headers.set('a/single', [headers({ form: 'single', dek: one })]);
  store.headers.set('a/list', [headers({ form: 'inline', list })]);
  record('single', recordId({ kind: 'object' }, one));
  record('list', list.manifest);
  assert.equal(await found(store), []);
  record('single', recordId({ kind: 'object' }, other));
  record('none', recordId({ kind: 'object' }, one));
  record('young', recordId({ kind: 'object' }, one), 1);
  store.put('a', `${prefix}rewraps/${'0'.repeat(64)}/x`, 'no record', 48);
  assert.equal(await found(store), [
    'rewrapped-keys a 1 no object names it',
    'rewrapped-keys a 1 no object names it',
  ]);
});

test.run();
