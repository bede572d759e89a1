import { readdirSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openObject } from '../../../../src/plugins/agent/bpf/object.ts';
import { openRingBuffer } from '../../../../src/plugins/agent/bpf/ring-buffer.ts';
import { ownMemoryMap } from '../../../../src/runtime/native/process-lock.ts';
import { collectGarbage } from '../../../support/collect-garbage.ts';
import { context, u32, u64 } from './arguments.ts';
import { compiledFixture } from './compile.ts';

const file = compiledFixture('counters');
/** The allocator keeps a little in reserve, and an object takes 50 kB; V8 maps as it likes, and logs are 8 MB each. */
const mostHeap = 1 << 20;
const mostMapped = 256 << 20;
const refused = compiledFixture('half');

/** Everything once, and all of it given back. */
function useAll(): void {
  const object = openObject(file, { name: 'test', constants: { factor: 2 } });
  object.load();
  const ring = openRingBuffer(object.map('ring'));
  object.program('produce').run(context(0, 100));
  ring.drain(100, () => {});
  object.map('table').update(u32(1), u64(1));
  object.program('watch').attach().destroy();
  ring.close();
  object.close();
}

function failToLoad(): void {
  const object = openObject(refused, { name: 'test' });
  assert.throws(() => object.load());
  object.close();
}

interface Use {
  /** Bytes of the C library's heap. */
  heap: number;
  /** Bytes of address space, V8's included. */
  mapped: number;
  descriptors: number;
  rings: number;
}

function inUse(): Use {
  collectGarbage();
  const map = ownMemoryMap();
  const size = (ranges: typeof map) => ranges.reduce((sum, { start, end }) => sum + end - start, 0);
  return {
    heap: size(map.filter(({ name }) => name === '[heap]')),
    mapped: size(map),
    descriptors: readdirSync('/proc/self/fd').length,
    rings: map.filter(({ name }) => name.includes('bpf-map')).length,
  };
}

/** Repeated use leaves nothing behind, once everything that is needed but once is there. */
function checkFlat(rounds: number, use: () => void): void {
  for (let round = 0; round < 30; round += 1) use();
  const before = inUse();
  for (let round = 0; round < rounds; round += 1) use();
  const after = inUse();
  assert.equal([after.descriptors, after.rings], [before.descriptors, 0]);
  assert.ok(after.heap - before.heap < mostHeap, `${after.heap - before.heap} bytes of the heap`);
  assert.ok(after.mapped - before.mapped < mostMapped, `${after.mapped - before.mapped} bytes mapped`);
}

const leaks = suite('what libbpf allocates');

leaks('is freed with an object, its links and its ring', () => {
  checkFlat(40, useAll);
});

leaks('is freed after a load that failed', () => {
  checkFlat(40, failToLoad);
});

leaks('is nothing with the use of maps', () => {
  const object = openObject(file, { name: 'test' });
  object.load();
  const [table, totals] = [object.map('table'), object.map('totals')];
  checkFlat(20_000, () => {
    table.update(u32(1), u64(1));
    table.lookup(u32(1));
    totals.lookup(u32(0));
    table.delete(u32(1));
  });
  object.close();
});

leaks.run();
