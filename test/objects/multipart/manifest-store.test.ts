import { mock } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { EnvelopeError } from '../../../src/objects/format/cipher.ts';
import type { PartList } from '../../../src/objects/format/manifest.ts';
import type { Envelope } from '../../../src/objects/format/metadata.ts';
import { MemoryBudget } from '../../../src/objects/held-memory.ts';
import type { DataKeys } from '../../../src/objects/keys/data-keys.ts';
import type { ListUser } from '../../../src/objects/multipart/lists-in-use.ts';
import { createManifests } from '../../../src/objects/multipart/manifest-store.ts';
import type { S3Error } from '../../../src/objects/s3/error.ts';
import { DelayedRemovals } from '../../../src/objects/state/state-store.ts';
import { quietLog } from '../../support/quiet-log.ts';
import { startVirtualTime } from '../../support/virtual-time.ts';
import { MemoryState } from '../memory-state.ts';
import { partList } from '../parts.ts';

const test = suite('manifests');
const name = { bucket: 'photos', key: 'a/b ä.jpg' };
const reservedPrefix = '.svc/';

function bed(sealKey = Buffer.alloc(32, 7), keepsVersions: 'yes' | 'no' | 'unknown' = 'no') {
  const state = new MemoryState();
  const unwrapped: string[] = [];
  const keys = {
    unwrap: async (_name: unknown, _scheme: unknown, items: { wrapped: string }[]) => {
      unwrapped.push(...items.map((item) => item.wrapped));
      return items.map(() => Buffer.from(sealKey));
    },
  } as unknown as DataKeys;
  return {
    state,
    unwrapped,
    manifests: createManifests({
      ...{ state, keys, reservedPrefix },
      buckets: { keepsVersionsNow: async () => keepsVersions },
      removals: new DelayedRemovals(state, quietLog),
      memory: new MemoryBudget(),
    }),
  };
}

const pointer = (list: PartList): Envelope => ({
  keys: { form: 'pointer', manifest: list.manifest, seal: list.seal },
  keyName: 'svc',
  keyVersion: 1,
  binding: 'key',
});

/** One that uses a list until `end`. */
function request(signal = new AbortController().signal): ListUser & { end(): void } {
  const ends: (() => void)[] = [];
  return {
    signal,
    atEnd: (release) => void ends.push(release),
    end() {
      for (const release of ends.splice(0)) release();
    },
  };
}

async function fault(action: Promise<unknown>): Promise<string> {
  try {
    await action;
  } catch (error) {
    if (error instanceof EnvelopeError) return error.reason;
    throw error;
  }
  return 'none';
}

test('gives back what was saved, and verifies the seal once', async () => {
  const { manifests, unwrapped } = bed();
  const list = partList(40);
  await manifests.save(name, list);
  assert.equal(await manifests.load(name, pointer(list), request()), list);
  assert.equal(await manifests.load(name, pointer(list), request()), list);
  assert.equal(unwrapped, [list.seal]);
});

test('verifies an inline list too', async () => {
  const { manifests } = bed(Buffer.alloc(32, 8));
  const list = partList(2);
  const envelope: Envelope = { ...pointer(list), keys: { form: 'inline', list } };
  assert.is(await fault(manifests.load(name, envelope, request())), 'manifest-forged');
});

test('a missing manifest is told apart', async () => {
  const { manifests } = bed();
  assert.is(await fault(manifests.load(name, pointer(partList(1)), request())), 'manifest-missing');
});

test('a manifest of another object is refused', async () => {
  const { manifests, state } = bed();
  const list = partList(3);
  await manifests.save({ ...name, key: 'other' }, list);
  const [[from, text] = ['', '']] = state.objects;
  await manifests.save(name, list);
  const to = [...state.objects.keys()].find((key) => key !== from) ?? '';
  state.objects.set(to, text);
  assert.is(await fault(manifests.load(name, pointer(list), request())), 'manifest-forged');
});

test('any edit of a stored list is refused', async () => {
  const edits: ((list: PartList) => PartList)[] = [
    (list) => ({ ...list, parts: list.parts.slice(1) }),
    (list) => ({ ...list, parts: list.parts.slice(0, -1) }),
    (list) => ({
      ...list,
      parts: list.parts.map((part, at) => (at === 1 ? { ...part, size: part.size + 1 } : part)),
    }),
    (list) => ({
      ...list,
      parts: list.parts.map((part, at) => ({ ...part, dek: list.parts[2 - at]?.dek ?? '' })),
    }),
    (list) => ({ ...list, seal: partList(1).seal }),
    (list) => ({ ...list, mac: partList(1).mac }),
  ];
  for (const edit of edits) {
    const { manifests } = bed();
    const list = partList(3);
    await manifests.save(name, edit(list));
    assert.is(
      await fault(manifests.load(name, pointer(list), request())),
      'manifest-forged',
      edit.toString(),
    );
  }
});

test('a removed manifest is gone', async () => {
  const { manifests, state } = bed();
  const list = partList(1);
  await manifests.save(name, list);
  assert.equal((await manifests.find(name, list.manifest))?.mac, list.mac);
  await manifests.remove(name, list.manifest);
  assert.is(state.objects.size, 0);
});

test('many who want one list at the same time read it once', async () => {
  const { manifests, state } = bed();
  const list = partList(300);
  await manifests.save(name, list);
  let reads = 0;
  const read = state.read.bind(state);
  state.read = (...asked) => {
    reads++;
    return read(...asked);
  };
  const lists = await Promise.all(
    Array.from({ length: 50 }, () => manifests.load(name, pointer(list), request())),
  );
  assert.is(reads, 1);
  assert.ok(lists.every(({ mac }) => mac === list.mac));
  const leaving = new AbortController();
  leaving.abort(new Error('gone'));
  const other = { ...name, key: 'other' };
  await manifests.save(other, list);
  const left = manifests.load(other, pointer(list), request(leaving.signal)).then(String, String);
  assert.is((await manifests.load(other, pointer(list), request())).mac, list.mac);
  assert.is(await left, 'Error: gone');
});

test('of long lists few are read at a time', async () => {
  const { manifests, state } = bed();
  const names = Array.from({ length: 12 }, (_, at) => ({ ...name, key: `long ${at}` }));
  const list = partList(5_000);
  for (const each of names) await manifests.save(each, list);
  let [now, most] = [0, 0];
  const read = state.read.bind(state);
  state.read = async (bucket, key, limit, admit) => {
    const stored = await read(bucket, key, limit, admit);
    most = Math.max(most, ++now);
    await setImmediate();
    now--;
    return stored;
  };
  const loads = names.map(async (each) => {
    const user = request();
    await manifests.load(each, pointer(list), user);
    user.end();
  });
  await Promise.all(loads);
  const size = state.objects.values().next().value?.length ?? 0;
  assert.ok(most >= 1 && most * size <= 4 * 1024 * 1024, `${most} of ${size} bytes`);
});

/** Twelve objects with a long list each. */
async function longLists() {
  const { manifests } = bed();
  const list = partList(10_000);
  const names = Array.from({ length: 12 }, (_, at) => ({ ...name, key: `long ${at}` }));
  for (const each of names) await manifests.save(each, list);
  const load = (at: number, user = request()) => {
    const loaded = manifests.load(names[at] ?? name, pointer(list), user);
    return {
      user,
      outcome: loaded.then(
        () => 'loaded',
        (error: S3Error) => error.code,
      ),
    };
  };
  return { load };
}

test('long lists in use are bounded, each counts once, and those who wait are told to slow down', async () => {
  const { load } = await longLists();
  const time = startVirtualTime();
  try {
    const all = Array.from({ length: 12 }, (_, at) => load(at));
    const outcomes = await Promise.all(all.map(({ outcome }) => outcome));
    const loaded = all.filter((_, at) => outcomes[at] === 'loaded');
    assert.equal([...new Set(outcomes)], ['loaded', 'SlowDown']);
    assert.ok(loaded.length >= 3 && loaded.length <= 6, `${loaded.length} at a time`);
    const others = await Promise.all(Array.from({ length: 50 }, () => load(0).outcome));
    assert.equal([...new Set(others)], ['loaded']);
    assert.is(await load(11).outcome, 'SlowDown');
    for (const { user } of loaded.slice(1)) user.end();
    for (const at of [11, 10]) assert.is(await load(at).outcome, 'loaded');
  } finally {
    time.stop();
  }
});

test('whoever leaves while it waits for room is in nobody’s way, and what it was to load is loaded for others', async () => {
  const { load } = await longLists();
  const gone = new AbortController();
  const first = Array.from({ length: 12 }, (_, at) => load(at, request(gone.signal)));
  const waiting = load(11);
  await Promise.race(first.map(({ outcome }) => outcome));
  gone.abort({ code: 'gone' });
  const outcomes = first.map(async ({ user, outcome }) => {
    await outcome;
    user.end();
  });
  await Promise.all(outcomes);
  assert.is(await waiting.outcome, 'loaded');
  assert.is(await load(0).outcome, 'loaded');
});

test('a manifest of empty objects by the million is refused before it is read', async () => {
  const { manifests, state } = bed();
  const list = partList(1);
  await manifests.save(name, list);
  const [key = ''] = state.objects.keys();
  state.objects.set(key, `{"v":1,"list":{"parts":[${'{},'.repeat(1_000_000)}{}]}}`);
  assert.is(await fault(manifests.load(name, pointer(list), request())), 'malformed-metadata');
});

for (const [keepsVersions, left] of [
  ['no', 0],
  ['yes', 1],
  ['unknown', 1],
] as const)
  test(`one that readers have had time for is removed unless versions are kept by then (${keepsVersions})`, async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      const { manifests, state } = bed(undefined, keepsVersions);
      const list = partList(2);
      await manifests.save(name, list);
      manifests.removeLater(name, list.manifest);
      mock.timers.tick(4 * 60_000);
      await setImmediate();
      assert.is(state.objects.size, 1);
      mock.timers.tick(60_000);
      await setImmediate();
      assert.is(state.objects.size, left);
    } finally {
      mock.timers.reset();
    }
  });

test.run();
