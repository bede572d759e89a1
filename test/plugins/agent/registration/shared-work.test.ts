import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SharedWork, type SharedWorkOptions } from '../../../../src/plugins/agent/registration/protecting.ts';
import { waitFor } from '../../../support/wait-for.ts';

const test = suite('shared work');
const one = { pid: 7, start: 1_000_000_000n };

interface Begun extends PromiseWithResolvers<string> {
  readonly signal: AbortSignal;
}

/** Work that is done when it is told so; `ask` begins or joins it. */
function bench(options: Partial<SharedWorkOptions<string>> = {}) {
  const usual = { keepMs: 60_000, quickMs: 60_000, mostKept: 10, holds: () => true };
  const work = new SharedWork<string>({ ...usual, ...options });
  const begun: Begun[] = [];
  const begin = (signal: AbortSignal) => {
    const each = { ...Promise.withResolvers<string>(), signal };
    begun.push(each);
    signal.addEventListener('abort', () => each.reject(signal.reason));
    return each.promise;
  };
  const ask = (process = one) => {
    const asker = new AbortController();
    const answer = work.of(process, asker.signal, begin).catch((error: unknown) => String(error));
    return { answer, giveUp: () => asker.abort('given up') };
  };
  return { work, begun, ask, first: () => begun[0] as Begun };
}

test('those that ask for the same while it is under way get the same', async () => {
  const { ask, begun, first, work } = bench();
  const answers = [ask(), ask(), ask()].map(({ answer }) => answer);
  first().resolve('done');
  assert.equal(await Promise.all(answers), ['done', 'done', 'done']);
  assert.equal([begun.length, work.size], [1, 0]);
});

test('fails for all, and is begun anew by the next', async () => {
  const { ask, begun, first, work } = bench();
  const answers = [ask(), ask()].map(({ answer }) => answer);
  first().reject(new Error('full'));
  assert.equal(await Promise.all(answers), ['Error: full', 'Error: full']);
  assert.is(work.size, 0);
  ask();
  assert.is(begun.length, 2);
});

test('is not shared by processes that have the same PID one after the other', () => {
  const { ask, begun } = bench();
  ask();
  ask({ pid: 7, start: 2_000_000_000n });
  ask({ pid: 8, start: 1_000_000_000n });
  assert.is(begun.length, 3);
});

test('who has given up and asks again finds it under way', async () => {
  const { ask, begun, first } = bench();
  for (let time = 0; time < 3; time += 1) {
    const { answer, giveUp } = ask();
    giveUp();
    assert.is(await answer, 'given up');
  }
  const { answer } = ask();
  first().resolve('done');
  assert.is(await answer, 'done');
  assert.is(begun.length, 1);
});

test('nothing is begun for who has given up already', async () => {
  const { work } = bench();
  const answer = work.of(one, AbortSignal.abort('late'), async () => assert.unreachable() as never);
  assert.is(await answer.catch((error: unknown) => error), 'late');
});

test('what came of it while nobody waited is the next answer', async () => {
  const { ask, begun, first } = bench();
  const { answer, giveUp } = ask();
  giveUp();
  await answer;
  first().resolve('done');
  await sleep(1);
  assert.is(await ask().answer, 'done');
  assert.is(begun.length, 1);
});

test('what has taken long is kept for a while: who was given it may have been gone already', async () => {
  const { ask, begun, first, work } = bench({ quickMs: 10, keepMs: 1_500 });
  const { answer } = ask();
  await sleep(20);
  first().resolve('done');
  assert.equal([await answer, await ask().answer], ['done', 'done']);
  assert.is(begun.length, 1);
  await waitFor('its end', () => work.size === 0);
});

test('what does not hold any more is not given to anybody', async () => {
  const { ask, begun, first } = bench({ holds: () => false });
  const { answer, giveUp } = ask();
  giveUp();
  await answer;
  first().resolve('done');
  await sleep(1);
  ask();
  assert.is(begun.length, 2);
});

test('ends when nobody has come back in time, and not before', async () => {
  const { ask, first, work } = bench({ keepMs: 50 });
  const early = ask();
  early.giveUp();
  await early.answer;
  const { answer, giveUp } = ask();
  await sleep(100);
  assert.not.ok(first().signal.aborted, 'somebody waits');
  giveUp();
  await answer;
  await waitFor('its end', () => first().signal.aborted);
  assert.is(work.size, 0);
});

test('a result that nobody has fetched in time is forgotten', async () => {
  const { ask, first, work } = bench({ keepMs: 20 });
  const { answer, giveUp } = ask();
  giveUp();
  await answer;
  first().resolve('done');
  await waitFor('its end', () => work.size === 0);
});

test('keeps a number of them that nobody waits for, and of the others all', async () => {
  const { ask, begun, work } = bench({ mostKept: 3 });
  const waiting = ask({ pid: 1, start: 0n });
  for (let pid = 2; pid < 12; pid += 1) {
    const { answer, giveUp } = ask({ pid, start: 0n });
    giveUp();
    await answer;
  }
  assert.is(work.size, 4);
  const ended = begun.map(({ signal }) => signal.aborted);
  assert.equal(ended, [false, ...Array(7).fill(true), false, false, false]);
  begun[0]?.resolve('done');
  assert.is(await waiting.answer, 'done');
});

test('ends with the agent', async () => {
  const { ask, work } = bench();
  const { answer } = ask();
  work.close(new Error('the agent ends'));
  assert.is(await answer, 'Error: the agent ends');
  assert.is(work.size, 0);
});

test.run();
