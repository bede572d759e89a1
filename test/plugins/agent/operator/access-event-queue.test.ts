import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  AccessEventQueue,
  type NumberedAccessEvent,
} from '../../../../src/plugins/agent/operator/access-event-queue.ts';
import { accessEventBy } from './agent-rig.ts';

const test = suite('AccessEventQueue');

const pids = (hits: readonly NumberedAccessEvent[]) => hits.map(({ first }) => first.source.pid);

test('takes equal hits as one, with their count and the time of first and last', () => {
  const queue = new AccessEventQueue(10);
  for (const at of [5n, 6n, 9n]) queue.add(accessEventBy(1, { at }));
  const [hit, ...others] = queue.take(10);
  assert.equal(others, []);
  assert.equal([hit?.count, hit?.first.at, hit?.lastAt], [3, 5n, 9n]);
});

test('takes those that come as one for as many as they are', () => {
  const queue = new AccessEventQueue(10);
  queue.add(accessEventBy(1, { at: 5n }), 3, 8n);
  queue.add(accessEventBy(1, { at: 9n }), 2, 12n);
  const [{ count, first, lastAt } = { count: 0, first: undefined, lastAt: 0n }] = queue.take(1);
  assert.equal([count, first?.at, lastAt], [5, 5n, 12n]);
});

test('keeps apart what differs in source, target, attack path, outcome or system call', () => {
  const queue = new AccessEventQueue(100);
  const { source, target } = accessEventBy(1);
  queue.add(accessEventBy(1));
  queue.add(accessEventBy(2));
  queue.add(accessEventBy(1, { source: { ...source, uid: 0 } }));
  queue.add(accessEventBy(1, { source: { ...source, comm: 'dd' } }));
  queue.add(accessEventBy(1, { target: { ...target, pid: 8 } }));
  queue.add(accessEventBy(1, { target: { ...target, start: 8n } }));
  queue.add(accessEventBy(1, { road: 'memory' }));
  queue.add(accessEventBy(1, { outcome: 'seen' }));
  queue.add(accessEventBy(1, { syscall: 2 }));
  assert.is(queue.size, 9);
});

test('leaves number and count of what was sent as they are', () => {
  const queue = new AccessEventQueue(10);
  queue.add(accessEventBy(1));
  const [before] = queue.take(10);
  queue.add(accessEventBy(1));
  const [again, next] = queue.take(10);
  assert.equal(again, before);
  assert.equal([next?.number, next?.count], [2, 1]);
});

test('gives the oldest first, those again that were not confirmed', () => {
  const queue = new AccessEventQueue(10);
  for (const pid of [1, 2, 3, 4]) queue.add(accessEventBy(pid));
  assert.equal(pids(queue.take(3)), [1, 2, 3]);
  assert.is(queue.accept(2), 2);
  assert.equal(pids(queue.take(3)), [3, 4]);
  assert.is(queue.accept(99), 2);
  assert.is(queue.size, 0);
});

test('without room drops the oldest that were never sent, and counts each attempt', () => {
  const queue = new AccessEventQueue(4);
  queue.add(accessEventBy(1));
  queue.take(1);
  queue.add(accessEventBy(2));
  queue.add(accessEventBy(2));
  for (const pid of [3, 4, 5]) queue.add(accessEventBy(pid));
  assert.is(queue.dropped, 2);
  assert.equal(pids(queue.take(9)), [1, 3, 4, 5]);
  assert.is(queue.size, 4);
});

test('counts what the operator refused as dropped', () => {
  const queue = new AccessEventQueue(4);
  queue.add(accessEventBy(1));
  queue.add(accessEventBy(1));
  queue.take(4);
  queue.add(accessEventBy(2));
  queue.refuse();
  assert.is(queue.dropped, 2);
  assert.equal(pids(queue.take(4)), [2]);
});

test('goes on in order after it was empty', () => {
  const queue = new AccessEventQueue(4);
  for (let round = 1; round <= 3; round++) {
    queue.add(accessEventBy(round));
    queue.add(accessEventBy(round + 10));
    assert.equal(pids(queue.take(4)), [round, round + 10]);
    queue.accept(round * 2);
  }
});

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ add: fc.integer({ min: 1, max: 12 }) }) },
  { weight: 2, arbitrary: fc.record({ take: fc.integer({ min: 1, max: 5 }), answered: fc.boolean() }) },
);

test('whatever happens, each attempt is delivered once or dropped once, and the bound holds', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const queue = new AccessEventQueue(6);
      const delivered = new Map<number, number>();
      let added = 0;
      const send = (limit: number, answered: boolean) => {
        const taken = queue.take(limit);
        for (const { number, count } of taken) {
          assert.is(delivered.get(number) ?? count, count);
          delivered.set(number, count);
        }
        if (answered) queue.accept(taken.at(-1)?.number ?? 0);
      };
      for (const one of steps) {
        if ('add' in one) {
          queue.add(accessEventBy(one.add));
          added += 1;
        } else send(one.take, one.answered);
        assert.ok(queue.size <= 6);
      }
      send(6, true);
      send(6, true);
      const total = [...delivered.values()].reduce((sum, count) => sum + count, 0);
      assert.is(total + queue.dropped, added);
    }),
  );
});

test.run();
