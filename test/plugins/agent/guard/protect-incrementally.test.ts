import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { protectIncrementally } from '../../../../src/plugins/agent/guard/create-guard.ts';
import { createTurns } from '../../../../src/runtime/lifecycle/turns.ts';
import { type FakePrograms, fakePrograms } from './support/fake-programs.ts';
import { type Family, startFamily } from './support/family.ts';

const test = suite('protectIncrementally');
const clock = new Int32Array(new SharedArrayBuffer(4));

/** Programs that take their time, and a walk that is under way. */
async function begun(
  work: (
    scene: Family & {
      programs: FakePrograms;
      done: Promise<unknown>;
      giveUp: AbortController;
      replace(): void;
    },
  ) => Promise<void>,
): Promise<void> {
  const [family, programs, giveUp] = [await startFamily(4), fakePrograms(), new AbortController()];
  let inForce = programs.set;
  programs.opened.add(family.pid);
  programs.onAsk = () => void Atomics.wait(clock, 0, 0, 15);
  const walk = { pid: family.pid, nextTurn: createTurns(), signal: giveUp.signal };
  const done = protectIncrementally(programs.set, () => inForce, walk).catch((error: unknown) => error);
  const replace = () => {
    inForce = fakePrograms().set;
  };
  try {
    await work({ ...family, programs, done, giveUp, replace });
  } finally {
    await family.end();
  }
}

const codeOf = (error: unknown) => (error as { code?: string }).code;

test('is done when all descendants are covered, with others at work in between', () =>
  begun(async ({ done, programs, descendants }) => {
    await sleep(1);
    assert.not.ok(descendants.every(programs.isCovered));
    assert.ok(((await done) as { covered: boolean }).covered);
    assert.ok(descendants.every(programs.isCovered));
  }));

test('never asks programs that others have replaced', () =>
  begun(async ({ done, programs, replace }) => {
    replace();
    const asked = programs.asked.length;
    assert.is(codeOf(await done), 'PROTECTION_UNSETTLED');
    assert.is(programs.asked.length, asked);
  }));

test('ends when it is given up, with descriptors from before checked', () =>
  begun(async ({ done, programs, giveUp }) => {
    const reason = new Error('nobody waits');
    giveUp.abort(reason);
    assert.is(await done, reason);
    assert.is(programs.lates, 1);
    assert.ok(programs.asked.length <= 4, String(programs.asked.length));
  }));

test('ends with the process', () =>
  begun(async ({ done, programs, endFirst }) => {
    await endFirst();
    const asked = programs.asked.length;
    assert.is(codeOf(await done), 'PROCESS_GONE');
    assert.ok(programs.asked.length <= asked + 2, String(programs.asked.length - asked));
  }));

test.run();
