import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  createWorkQueue,
  type ReconcileOutcome,
  type WorkQueueTuning,
} from '../../../src/cluster/kube/work-queue.ts';
import { waitFor } from '../../support/wait-for.ts';

export const idle = true;

const test = suite('work queue');
const quick: Partial<WorkQueueTuning> = { workers: 3, initialBackoffMs: 1, maxBackoffMs: 5 };

const stops: AbortController[] = [];
test.after.each(() => {
  for (const stop of stops.splice(0)) stop.abort();
});

/** A queue whose work waits to be told how it ends. */
function held(tuning: Partial<WorkQueueTuning> = {}) {
  const stop = new AbortController();
  stops.push(stop);
  const begun: string[] = [];
  const ends: ((outcome: ReconcileOutcome | Error) => void)[] = [];
  const work = (key: string) =>
    new Promise<ReconcileOutcome>((resolve, reject) => {
      begun.push(key);
      ends.push((outcome) => (outcome instanceof Error ? reject(outcome) : resolve(outcome)));
    });
  const queue = createWorkQueue({ work, signal: stop.signal, tuning: { ...quick, ...tuning } });
  const end = async (index: number, outcome: ReconcileOutcome | Error = 'done') => {
    ends[index]?.(outcome);
    await sleep(0);
  };
  return { queue, begun, end, stop };
}

test('works once on a key that is added often before it is begun with', async () => {
  const { queue, begun, end } = held({ workers: 1 });
  for (const key of ['a', 'b', 'b', 'b', 'c']) queue.add(key);
  assert.equal(begun, ['a']);
  assert.is(queue.size, 3);
  for (const index of [0, 1, 2]) await end(index);
  assert.equal(begun, ['a', 'b', 'c']);
  assert.is(queue.size, 0);
});

test('works once more on a key that is added while it is worked on', async () => {
  const { queue, begun, end } = held();
  queue.add('a');
  queue.add('a');
  queue.add('a');
  assert.equal(begun, ['a']);
  await end(0);
  assert.equal(begun, ['a', 'a']);
  await end(1);
  assert.equal(begun, ['a', 'a']);
  assert.is(queue.size, 0);
});

test('works on as many keys at once as there are workers', async () => {
  const { queue, begun, end } = held({ workers: 2 });
  for (const key of ['a', 'b', 'c', 'd']) queue.add(key);
  assert.equal(begun, ['a', 'b']);
  await end(1);
  assert.equal(begun, ['a', 'b', 'c']);
});

test('begins with a delayed key when its time has come, sooner if somebody asks', async () => {
  const { queue, begun } = held();
  queue.add('late', 600_000);
  queue.add('soon', 600_000);
  queue.add('soon', 5);
  queue.add('soon', 600_000);
  await waitFor('the key', () => begun.length > 0);
  assert.equal(begun, ['soon']);
});

test('tries again after an error, after ever longer, and forgets that after a success', async () => {
  const stop = new AbortController();
  const at: number[] = [];
  let fails = true;
  const work = async (): Promise<ReconcileOutcome> => {
    at.push(performance.now());
    if (fails) throw new Error('no');
    return 'done';
  };
  const tuning = { workers: 1, initialBackoffMs: 20, maxBackoffMs: 10_000 };
  const queue = createWorkQueue({ work, signal: stop.signal, tuning });
  queue.add('a');
  await waitFor('some attempts', () => at.length >= 5);
  fails = false;
  await waitFor('a success', () => queue.size === 0);
  const count = at.length;
  queue.add('a');
  await waitFor('a last one', () => at.length === count + 1);
  stop.abort();
  const whole = (at[4] ?? 0) - (at[0] ?? 0);
  assert.ok(whole > 20, `four pauses took ${whole} ms`);
});

test('pauses are short again after a success that comes back by itself', async () => {
  const stop = new AbortController();
  stops.push(stop);
  let rounds = 0;
  const work = async (): Promise<ReconcileOutcome> => (rounds++ % 2 === 0 ? 'again' : 0);
  const tuning = { workers: 1, initialBackoffMs: 1, maxBackoffMs: 600_000 };
  createWorkQueue({ work, signal: stop.signal, tuning }).add('a');
  // doubled forty times, the last pause would be the longest there is
  await waitFor('many rounds', () => rounds >= 80, { timeoutMs: 20_000 });
});

test('comes back after the time that the work asks for', async () => {
  const { queue, begun, end } = held();
  queue.add('a');
  await end(0, 3);
  await waitFor('the next round', () => begun.length === 2);
});

test('a change does not wait for the pause after an error', async () => {
  const { queue, begun, end } = held({ initialBackoffMs: 600_000, maxBackoffMs: 600_000 });
  queue.add('a');
  await end(0, new Error('no'));
  assert.is(queue.size, 1);
  queue.add('a');
  assert.equal(begun, ['a', 'a']);
});

test('turns keys away where there is no room, and says when there is', async () => {
  const { queue, begun, end } = held({ workers: 1, maxKeys: 2 });
  assert.ok(queue.add('a') && queue.add('b'));
  assert.not(queue.add('c'));
  assert.ok(queue.add('b'), 'one that it knows takes no room');
  let roomy = false;
  void queue.whenRoom().then(() => {
    roomy = true;
  });
  await sleep(0);
  assert.not(roomy);
  await end(0);
  assert.ok(roomy);
  assert.ok(queue.add('c'));
  assert.equal(begun, ['a', 'b']);
});

test('begins nothing after the abort, and is closed when what is under way has ended', async () => {
  const { queue, begun, end, stop } = held({ workers: 1 });
  let closed = false;
  void queue.closed.then(() => {
    closed = true;
  });
  for (const key of ['a', 'b']) queue.add(key);
  queue.add('late', 1);
  stop.abort();
  queue.add('c');
  await sleep(10);
  assert.not(closed);
  await queue.whenRoom();
  await end(0);
  assert.ok(closed);
  assert.equal(begun, ['a']);
});

test('a queue that is aborted from the start is closed', async () => {
  const queue = createWorkQueue({ work: async () => 'done', signal: AbortSignal.abort() });
  queue.add('a');
  await queue.closed;
  assert.is(queue.size, 0);
});

type Step = { readonly key: string; readonly delay: number; readonly wait: boolean };

const steps = fc.array(
  fc.record({
    key: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    delay: fc.constantFrom(0, 0, 0, 1, 3),
    wait: fc.boolean(),
  }),
  { maxLength: 60 },
);
const outcomes = fc.array(
  fc.constantFrom<ReconcileOutcome | 'throw'>('done', 'done', 'again', 'throw', 0, 2),
  {
    maxLength: 30,
  },
);

/** What the work sees last of each key must be what was added last. */
async function play(list: readonly Step[], ends: readonly (ReconcileOutcome | 'throw')[], workers: number) {
  const stop = new AbortController();
  const busy = new Set<string>();
  const wanted = new Map<string, number>();
  const seen = new Map<string, number>();
  const left = [...ends];
  let most = 0;
  const work = async (key: string): Promise<ReconcileOutcome> => {
    assert.not(busy.has(key), `${key} twice at a time`);
    busy.add(key);
    most = Math.max(most, busy.size);
    const now = wanted.get(key) ?? 0;
    await sleep(Math.random() < 0.5 ? 0 : 1);
    busy.delete(key);
    const outcome = left.shift() ?? 'done';
    if (outcome === 'throw') throw new Error('made up');
    if (outcome !== 'again') seen.set(key, now);
    return outcome;
  };
  let wrong: unknown;
  const watched = (key: string) =>
    work(key).catch((error) => {
      if ((error as Error).message !== 'made up') wrong ??= error;
      throw error;
    });
  const queue = createWorkQueue({ work: watched, signal: stop.signal, tuning: { ...quick, workers } });
  for (const [index, { key, delay, wait }] of list.entries()) {
    wanted.set(key, index);
    queue.add(key, delay);
    if (wait) await sleep(0);
  }
  await waitFor('an empty queue', () => queue.size === 0);
  stop.abort();
  await queue.closed;
  if (wrong !== undefined) throw wrong;
  return { wanted, seen, most };
}

test('never works twice at a time on a key, and loses none', async () => {
  await fc.assert(
    fc.asyncProperty(steps, outcomes, fc.integer({ min: 1, max: 4 }), async (list, ends, workers) => {
      const { wanted, seen, most } = await play(list, ends, workers);
      assert.equal([...seen].sort(), [...wanted].sort());
      assert.ok(most <= workers);
    }),
    { numRuns: 150 },
  );
});

test.run();
