import { setImmediate as turn } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { concurrently } from '../../../src/runtime/lifecycle/wait.ts';

const test = suite('bounded concurrency');

test('results are in order, and never more than the limit run', async () => {
  let running = 0;
  let most = 0;
  const results = await concurrently([5, 1, 4, 2, 3], 2, async (item) => {
    most = Math.max(most, ++running);
    for (let wait = 0; wait < item; wait++) await turn();
    running--;
    return item * 10;
  });
  assert.equal(results, [50, 10, 40, 20, 30]);
  assert.is(most, 2);
});

test('the first failure ends it and is told', async () => {
  const begun: number[] = [];
  const failure = await concurrently([0, 1, 2, 3, 4, 5], 2, async (item) => {
    begun.push(item);
    await turn();
    if (item === 1) throw new Error('one');
  }).catch((error: Error) => error.message);
  for (let wait = 0; wait < 10; wait++) await turn();
  assert.is(failure, 'one');
  assert.ok(begun.length < 6, String(begun));
});

test('nothing to do is done', async () => {
  assert.equal(await concurrently([], 4, async () => 1), []);
});

test.run();
