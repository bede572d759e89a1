import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { MappedStore } from '../../src/sdk/mapped-store.ts';
import { open } from '../../src/sdk/open.ts';
import type { Store } from '../../src/sdk/store.ts';
import { duplicate, regionWith } from '../support/secret-region.ts';
import { type RegionVector, regionOfVector } from '../support/secret-vectors.ts';

interface Call {
  call: 'get' | 'mustGet' | 'has' | 'keys';
  key?: string;
  want?: unknown;
  panics?: string;
}

interface StoreVector {
  name: string;
  entries: [string, string][] | null;
  environment: Record<string, string>;
  closed: boolean;
  calls: Call[];
}

const test = suite('sdk store');
const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`../vectors/${name}`, import.meta.url), 'utf8'));
const { stores } = read('secret-store.json') as { stores: StoreVector[] };
const { regions } = read('secret-records.json') as { regions: RegionVector[] };

function opened({ entries, environment }: StoreVector): { store: Store; release: () => void } {
  if (!entries) return { store: open({ environment }), release: () => undefined };
  const region = regionWith(entries);
  const descriptor = `${duplicate(region.descriptor)}`;
  const store = open({ environment: { ...environment, SVC_SECRET_FD: descriptor } });
  return { store, release: () => region.release() };
}

function check(store: Store, { call, key = '', want, panics }: Call): void {
  const label = `${call}(${JSON.stringify(key)})`;
  if (panics === undefined) assert.equal(store[call](key) ?? null, want, label);
  else
    assert.throws(
      () => store[call](key),
      (error: Error) => error.message === panics,
      label,
    );
}

for (const vector of stores) {
  test(vector.name, () => {
    const { store, release } = opened(vector);
    if (vector.closed) store.close();
    for (const call of vector.calls) check(store, call);
    const state = vector.entries ? (vector.closed ? 'closed' : 'open') : 'nil';
    assert.is(store.state, state);
    store.close();
    store.close();
    release();
  });
}

for (const vector of regions) {
  test(`a store over ${vector.name}`, () => {
    const store = new MappedStore({ bytes: regionOfVector(vector), unmap: () => undefined }, {});
    assert.equal(
      store.keys(),
      vector.values.map(([key]) => key),
    );
    for (const [key, hex] of vector.values) {
      assert.is(Buffer.from(store.view(key) as Uint8Array).toString('hex'), hex);
      assert.is(store.get(key), Buffer.from(hex, 'hex').toString());
    }
  });
}

test.run();
