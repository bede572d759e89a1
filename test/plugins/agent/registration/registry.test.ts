import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Guard } from '../../../../src/plugins/agent/guard/contract.ts';
import { Registry } from '../../../../src/plugins/agent/registration/registry.ts';

const test = suite('registry');

/** Knows the processes that live: PIDs with their start times. */
function registry(capacity?: number) {
  const living = new Map<number, bigint>();
  let looked = 0;
  const guard = {
    inspect(pid: number) {
      looked += 1;
      const start = living.get(pid);
      return start === undefined ? undefined : { pid, start };
    },
    processes: () => [],
    status: { tier: 1 },
  } as unknown as Guard;
  const kept = new Registry(guard, capacity);
  const begin = (pid: number, start = 1n) => {
    living.set(pid, start);
    return kept.add({ pid, start });
  };
  return { processes: () => kept.processes(), begin, living, looks: () => looked };
}

const pids = (kept: { processes(): readonly { pid: number }[] }) => kept.processes().map(({ pid }) => pid);

test('lists who is there', () => {
  const kept = registry();
  assert.ok(kept.begin(1));
  assert.not(kept.begin(1));
  kept.begin(2);
  assert.equal(pids(kept), [1, 2]);
  kept.living.delete(1);
  assert.equal(pids(kept), [2]);
});

test('a PID that was given to another process is another entry', () => {
  const kept = registry();
  kept.begin(1, 10_000_000n);
  assert.ok(kept.begin(1, 20_000_000n));
  assert.equal(kept.processes(), [{ pid: 1, start: 20_000_000n }]);
});

test('a start that is told more exactly is the same process, and is listed so', () => {
  const kept = registry();
  kept.begin(1, 70_000_000n);
  kept.living.set(1, 71_234_567n);
  assert.equal(kept.processes(), [{ pid: 1, start: 71_234_567n }]);
  assert.not(kept.begin(1, 71_234_567n));
});

test('a full one forgets who is gone, then who came first', () => {
  const kept = registry(3);
  for (const pid of [1, 2, 3]) kept.begin(pid);
  kept.living.delete(2);
  kept.begin(4);
  assert.equal(pids(kept), [1, 3, 4]);
  kept.begin(5);
  assert.equal(pids(kept), [3, 4, 5]);
});

test('stays small while processes come and go, without looking at all of them each time', () => {
  const kept = registry();
  for (let pid = 1; pid <= 20_000; pid++) {
    kept.begin(pid);
    kept.living.delete(pid - 10);
  }
  assert.ok(kept.looks() < 60_000, String(kept.looks()));
  assert.is(pids(kept).length, 10);
});

test('a long list that lives is not gone through again and again', () => {
  const kept = registry();
  for (let pid = 1; pid <= 20_000; pid++) kept.begin(pid);
  assert.ok(kept.looks() < 60_000, String(kept.looks()));
  assert.is(pids(kept).length, 16_384);
});

test.run();
