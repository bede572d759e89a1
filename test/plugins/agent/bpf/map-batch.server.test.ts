import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { mapEntries } from '../../../../src/plugins/agent/bpf/map.ts';
import { type BpfObject, openObject } from '../../../../src/plugins/agent/bpf/object.ts';
import { u32, u64 } from './arguments.ts';
import { compiledFixture } from './compile.ts';

const most = 10_000;
let object: BpfObject;

const entries = suite('all entries of a map');

entries.before(() => {
  object = openObject(compiledFixture('counters', { MAX_ENTRIES: most }), { name: 'test' });
  object.load();
});

entries.after(() => object.close());

entries('are none at first', () => {
  assert.equal(mapEntries(object.map('table')), []);
});

entries('are each there once, however many batches they take', () => {
  const table = object.map('table');
  for (let key = 0; key < most; key += 1) table.update(u32(key), u64(key * 2));
  const found = mapEntries(table);
  assert.is(found.length, most);
  assert.is(new Set(found.map(({ key }) => key.readUInt32LE())).size, most);
  assert.ok(found.every(({ key, value }) => Number(value.readBigUInt64LE()) === key.readUInt32LE() * 2));
});

entries.run();
