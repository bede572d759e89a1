import { setImmediate } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { MemoryBudget, RequestMemory } from '../../src/objects/held-memory.ts';
import { startVirtualTime } from '../support/virtual-time.ts';

const test = suite('memory that requests hold');
const MiB = 1024 * 1024;
const never = new AbortController().signal;

/** What became of a request by now. */
async function state(taken: Promise<void>): Promise<string> {
  const outcome = taken.then(
    () => 'granted',
    (error: { code?: string }) => error.code ?? 'failed',
  );
  return Promise.race([outcome, setImmediate('waits')]);
}

test('kinds share one budget, and each kind has a bound of its own', async () => {
  const memory = new MemoryBudget(10 * MiB);
  const first = [memory.hold('answers'), memory.hold('bodies'), memory.hold('records')];
  for (const held of first) await held.take(3 * MiB);
  const [answer, record] = [memory.hold('answers'), memory.hold('records')];
  const asked = [answer.take(4 * MiB), record.take(2 * MiB)];
  assert.equal(await Promise.all(asked.map(state)), ['waits', 'waits'], 'beyond its kind, and beyond all');
  first[1]?.release();
  assert.equal(await Promise.all(asked.map(state)), ['waits', 'granted']);
  first[0]?.release();
  assert.equal(await Promise.all(asked.map(state)), ['granted', 'granted']);
  for (const held of [...first, answer, record]) held.release();
  assert.is(memory.used, 0);
});

test('of each kind the first goes on within a reserve, and then the next', async () => {
  const memory = new MemoryBudget(4 * MiB);
  const [one, two] = [memory.hold('answers'), memory.hold('answers')];
  await one.take(2 * MiB);
  await two.take(2 * MiB);
  const more = two.take(MiB);
  assert.is(await state(more), 'waits');
  assert.is(await state(one.take(5 * MiB)), 'granted', 'they would wait for each other');
  one.release();
  assert.is(await state(more), 'granted');
  assert.is(await state(memory.hold('lists').take(12 * MiB)), 'granted', 'one of another kind, too');
  const gone = new AbortController();
  const beyond = memory.hold('records', gone.signal).take(12 * MiB);
  assert.is(await state(beyond), 'waits', 'beyond the reserve');
  gone.abort({ code: 'gone' });
  assert.is(await state(beyond), 'gone');
});

test('the first of a kind goes on when another kind gives back what the reserve lacked', async () => {
  const memory = new MemoryBudget(4 * MiB);
  const [list, record] = [memory.hold('lists'), memory.hold('records')];
  await list.take(4 * MiB);
  await record.take(8 * MiB);
  const survey = memory.hold('surveys').take(12 * MiB);
  assert.is(await state(survey), 'waits', 'beyond the reserve');
  record.release(4 * MiB);
  assert.is(await state(survey), 'granted');
});

test('who waits too long is told to slow down, and who leaves is in nobody’s way', async () => {
  const time = startVirtualTime();
  try {
    const memory = new MemoryBudget(MiB);
    const first = memory.hold('bodies');
    await first.take(MiB);
    const gone = new AbortController();
    const left = memory.hold('bodies', gone.signal).take(MiB);
    const patient = memory.hold('bodies').take(1);
    gone.abort({ code: 'gone' });
    assert.is(await state(left), 'gone');
    assert.is(await patient.catch((error) => error.code), 'SlowDown');
    assert.ok(time.now() >= 20_000 && time.now() < 30_000, `${time.now()}`);
    first.release();
    assert.is(memory.used, 0);
  } finally {
    time.stop();
  }
});

test('a part of what is held is given back, and the end of a request gives all back', async () => {
  const memory = new MemoryBudget(4 * MiB);
  const request = new RequestMemory(memory, never);
  for (const bytes of [MiB, MiB]) await request.of('records').take(bytes);
  request.of('records').release(1.5 * MiB);
  await request.of('answers').take(100);
  assert.is(memory.used, MiB / 2 + 100);
  request.release();
  request.release();
  assert.is(memory.used, 0);
});

test('what is there at once is had without waiting, or not at all', async () => {
  const memory = new MemoryBudget(2 * MiB);
  const [one, two] = [memory.hold('waiting'), memory.hold('waiting')];
  assert.equal([one.tryTake(MiB), two.tryTake(2 * MiB), two.tryTake(MiB)], [true, false, true]);
});

test.run();
