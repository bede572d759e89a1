import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  bytesOfStates,
  defaultLimits,
  NodeRegistry,
  type NodeRegistryLimits,
} from '../../../../src/plugins/operator/nodes/node-registry.ts';
import type { NodeReport, NodeStateMessage } from '../../../../src/plugins/operator/nodes/read-report.ts';
import { createCollector } from '../../../../src/runtime/memory.ts';

export const slow = true;

const test = suite('NodeRegistry');

function registryAt(limits: Partial<NodeRegistryLimits> = {}) {
  const clock = { now: 0 };
  const changed: string[] = [];
  const registry = new NodeRegistry({
    limits: { ...defaultLimits, ...limits },
    now: () => clock.now,
    onChange: (node) => changed.push(node),
  });
  return { registry, clock, changed };
}

const stateOf = (pods = 0, tier = 'TIER_LSM'): NodeStateMessage => ({
  ...{ tier, enforcing: true, reason: '', passedOver: [] },
  pods: Array.from({ length: pods }, (_, n) => ({
    ...{ podUid: `uid-${n}`, covered: true, uncoveredReason: '' },
    processes: [],
  })),
});

function report(sequence: number, more: Partial<NodeReport> = {}): NodeReport {
  const base = { node: 'n', instance: 'i', droppedHits: 0, hits: [], state: null };
  return { ...base, sequence: BigInt(sequence), ...more };
}

const hits = (...numbers: number[]) =>
  numbers.map((number) => ({
    number,
    count: 1,
    road: 'ROAD_ENVIRON',
    outcome: 'OUTCOME_SEEN',
    targetPod: '',
  }));
const numbersOf = ({ hits: all }: { hits: readonly { number: number }[] }) => all.map(({ number }) => number);

test('asks for a state until it has one, and again after another start of the agent', () => {
  const { registry } = registryAt();
  assert.is(registry.take(report(1)).sendState, true);
  assert.is(registry.take(report(2, { state: stateOf() })).sendState, false);
  assert.is(registry.take(report(3)).sendState, false);
  assert.is(registry.take(report(1, { instance: 'j' })).sendState, true);
  assert.is(registry.agentOf('n'), undefined);
});

test('keeps the newest state of an instance, in whatever order reports come', () => {
  const { registry } = registryAt();
  registry.take(report(3, { state: stateOf(0, 'TIER_TRACEPOINT') }));
  registry.take(report(2, { state: stateOf() }));
  assert.is(registry.agentOf('n')?.tier, 3);
});

test('takes each hit once, however often and in whatever pieces it comes', () => {
  const { registry } = registryAt();
  assert.equal(numbersOf(registry.take(report(1, { hits: hits(1, 2, 3) }))), [1, 2, 3]);
  const again = registry.take(report(2, { hits: hits(2, 3, 4) }));
  assert.equal(numbersOf(again), [4]);
  assert.is(again.acceptedHit, 4);
  assert.is(registry.take(report(3)).acceptedHit, 4);
  assert.equal(numbersOf(registry.take(report(1, { instance: 'j', hits: hits(1) }))), [1]);
  assert.equal(numbersOf(registry.take(report(2, { hits: hits(2, 3, 4) }))), []);
});

test('a repetition of any report changes nothing', () => {
  const anyHits = fc
    .uniqueArray(fc.integer({ min: 1, max: 50 }))
    .map((numbers) => hits(...numbers.sort((a, b) => a - b)));
  const anyReport = fc.record({
    sequence: fc.integer({ min: 1, max: 20 }),
    hits: anyHits,
    dropped: fc.nat(9),
  });
  fc.assert(
    fc.property(fc.array(anyReport, { maxLength: 12 }), (all) => {
      const [{ registry: once }, { registry: twice }] = [
        registryAt({ reports: plenty }),
        registryAt({ reports: plenty }),
      ];
      const count = { once: 0, twice: 0 };
      for (const { sequence, hits: some, dropped } of all) {
        const one = report(sequence, { hits: some, droppedHits: dropped, state: stateOf(sequence) });
        count.once += once.take(one).hits.length;
        count.twice += twice.take(one).hits.length + twice.take(one).hits.length;
      }
      assert.is(count.once, count.twice);
      assert.equal(once.agentOf('n'), twice.agentOf('n'));
    }),
  );
});

const plenty = { burst: 1_000, perSecond: 1_000 };

test('counts what agents gave up once, and not what another replica may have counted', () => {
  const { registry } = registryAt();
  assert.is(registry.take(report(1, { droppedHits: 3 })).dropped, 3);
  assert.is(registry.take(report(2, { droppedHits: 5 })).dropped, 2);
  assert.is(registry.take(report(2, { droppedHits: 5 })).dropped, 0);
  assert.is(registry.take(report(7, { node: 'other', droppedHits: 9 })).dropped, 0);
  assert.is(registry.take(report(8, { node: 'other', droppedHits: 10 })).dropped, 1);
});

test('believes a node for 40 seconds, forgets it after ten, and tells of the silence once', () => {
  const { registry, clock, changed } = registryAt();
  registry.take(report(1, { state: stateOf(3) }));
  clock.now = 40_000;
  registry.removeStale();
  assert.ok(registry.agentOf('n'));
  clock.now = 40_001;
  for (let i = 0; i < 3; i++) registry.removeStale();
  assert.is(registry.agentOf('n'), undefined);
  assert.equal(changed, ['n', 'n']);
  assert.is(registry.silent, 1);
  registry.take(report(2));
  assert.ok(registry.agentOf('n'));
  assert.equal(changed, ['n', 'n', 'n']);
  assert.is(registry.silent, 0);
  clock.now += 600_001;
  registry.removeStale();
  assert.is(registry.size, 0);
});

test('has room for so many nodes and pods, and for others once some are forgotten', () => {
  const { registry, clock } = registryAt({ nodes: 2, pods: 10 });
  const full = (one: NodeReport, why: RegExp) =>
    assert.throws(
      () => registry.take(one),
      (error: { status?: string; message: string }) =>
        error.status === 'RESOURCE_EXHAUSTED' && why.test(error.message),
    );
  registry.take(report(1, { node: 'a', state: stateOf(6) }));
  registry.take(report(1, { node: 'b', state: stateOf(4) }));
  full(report(1, { node: 'c' }), /2 nodes/);
  full(report(2, { node: 'a', state: stateOf(7) }), /10 pods/);
  registry.take(report(3, { node: 'a', state: stateOf(1) }));
  registry.take(report(2, { node: 'b', state: stateOf(9) }));
  clock.now = 600_001;
  registry.removeStale();
  registry.take(report(1, { node: 'c', state: stateOf(10) }));
});

test('slows an agent that reports too often, and no other one', () => {
  const { registry, clock } = registryAt({ reports: { burst: 3, perSecond: 1 } });
  for (let n = 1; n <= 3; n++) registry.take(report(n));
  assert.throws(() => registry.take(report(4)), /too many/);
  registry.take(report(1, { node: 'other' }));
  clock.now = 1_000;
  registry.take(report(4));
  assert.throws(() => registry.take(report(5)), /too many/);
});

test('trusts no tier that it does not know, and nothing that enforces without one', () => {
  const { registry } = registryAt();
  registry.take(report(1, { state: stateOf(0, 'TIER_UNSPECIFIED') }));
  assert.equal([registry.agentOf('n')?.tier, registry.agentOf('n')?.enforcing], [4, false]);
});

test('keeps why a node has no higher tier, a reason a tier and none longer than the schema allows', () => {
  const { registry } = registryAt();
  const wide = `${'x'.repeat(499)}\u{1f600}`;
  const passedOver = [
    { tier: 'TIER_FMOD_RET', reason: wide },
    { tier: 'TIER_LSM', reason: 'bpf is not in the list of the LSMs.' },
    { tier: 'TIER_LSM', reason: 'Again.' },
    { tier: 'TIER_OF_TOMORROW', reason: 'Unknown.' },
    { tier: 9, reason: 'Unknown.' },
  ];
  const state = { ...stateOf(0, 'TIER_TRACEPOINT'), enforcing: false, reason: 'Audit mode.', passedOver };
  registry.take(report(1, { state }));
  const known = registry.agentOf('n');
  assert.is(known?.reason, 'Audit mode.');
  assert.equal(known?.passedOver, [
    { tier: 1, reason: 'bpf is not in the list of the LSMs.' },
    { tier: 2, reason: `${'x'.repeat(499)}\ufffd` },
  ]);
});

test('of five thousand nodes that start again and again stays as large as it is', () => {
  const { registry, clock } = registryAt();
  const collect = createCollector(0);
  const round = (number: number): number => {
    clock.now += 30_000;
    for (let n = 0; n < 5_000; n++)
      registry.take(
        report(number, { node: `node-${n}`, instance: `${number}`, state: stateOf(20), hits: hits(1) }),
      );
    collect();
    return process.memoryUsage().heapUsed;
  };
  for (let number = 1; number <= 5; number++) round(number);
  const before = round(6);
  for (let number = 7; number <= 12; number++) round(number);
  const after = round(13);
  assert.is(registry.size, 5_000);
  assert.ok(after < before + 8_000_000, `${before} bytes before, ${after} after`);
});

test('keeps states of so many bytes; a node that reports too much does not take the room of others', () => {
  const { registry } = registryAt({ bytes: 256 * 1024 });
  const large = (node: string, sequence: number, pods: number) =>
    registry.take(report(sequence, { node, state: stateOf(pods) }));
  large('a', 1, 50);
  assert.throws(() => large('greedy', 1, 1_000), /no room for the states of more pods/);
  for (let node = 0; node < 5; node++) large(`node-${node}`, 1, 50);
  assert.throws(() => large('a', 2, 1_000), /no room/);
  assert.is(registry.agentOf('a')?.pods.size, 50);
  // in place of its former state, and again after all are forgotten
  for (let sequence = 3; sequence < 15; sequence++) large('a', sequence, 50);
  registry.clear();
  for (let node = 0; node < 5; node++) large(`node-${node}`, 1, 50);
});

test('128 nodes of 110 pods have room in 128 MiB', () => {
  const { registry } = registryAt({ bytes: bytesOfStates(128 * 1024 * 1024) });
  for (let node = 0; node < 128; node++)
    registry.take(report(1, { node: `node-${node}`, state: stateOf(110) }));
  assert.is([...registry.agents()].length, 128);
});

test.run();
