import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createTurns, takeInTurns } from '../../../src/runtime/lifecycle/turns.ts';

const test = suite('work in turns');
const clock = new Int32Array(new SharedArrayBuffer(4));

/** Blocks for some milliseconds a step. */
function* slowly(name: string, steps: number, log: string[]): Generator<void, string> {
  for (let step = 0; step < steps; step += 1) {
    Atomics.wait(clock, 0, 0, 11);
    log.push(name);
    yield;
  }
  return name;
}

test('short work is done at once', async () => {
  const ends: string[] = [];
  function* quickly(): Generator<void, void> {
    for (let step = 0; step < 100; step += 1) yield;
    ends.push('work');
  }
  // a busy host may come in between now and then
  for (let time = 0; time < 20; time += 1) {
    const work = takeInTurns(quickly(), createTurns(), () => {});
    ends.push('call');
    await work;
  }
  assert.match(ends.join(' '), /work call/);
});

test('long work lets others go on, one turn each', async () => {
  const [log, nextTurn]: [string[], ReturnType<typeof createTurns>] = [[], createTurns()];
  const works = ['a', 'b', 'c'].map((name) => takeInTurns(slowly(name, 4, log), nextTurn, () => {}));
  assert.equal(await Promise.all(works), ['a', 'b', 'c']);
  assert.is(log.join(''), 'abcabcabcabc');
});

test('timers run in between', async () => {
  const log: string[] = [];
  const work = takeInTurns(slowly('step', 20, log), createTurns(), () => {});
  await sleep(1);
  assert.ok(log.length < 10, String(log.length));
  await work;
});

test('ends with what the check after a turn throws', async () => {
  const log: string[] = [];
  const check = () => {
    throw new Error('enough');
  };
  const work = takeInTurns(slowly('step', 20, log), createTurns(), check);
  const error = await work.catch((thrown: Error) => thrown);
  assert.is((error as Error).message, 'enough');
  assert.equal(log, ['step']);
});

test.run();
