import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { repeatWork } from '../../../../src/plugins/wrapper/keep.ts';

const test = suite('repeatWork');

test('goes on after failures until it is told to end', async () => {
  const ending = new AbortController();
  const told: number[] = [];
  let count = 0;
  await repeatWork({
    work: async () => {
      count++;
      if (count === 2) throw new Error('away');
      if (count === 1) return;
    },
    delayMs: () => 1,
    onFailure: (error, retryMs) => {
      assert.is((error as Error).message, 'away');
      told.push(retryMs);
      ending.abort();
    },
    signal: ending.signal,
  });
  assert.is(count, 2);
  assert.is(told.length, 1);
  assert.ok((told[0] as number) >= 5_000, 'a key server that refuses is left in peace for some seconds');
});

test('retries no later than it may', async () => {
  const ending = new AbortController();
  const told: number[] = [];
  await repeatWork({
    work: () => Promise.reject(new Error('away')),
    delayMs: () => 1,
    longestRetryMs: () => 3,
    onFailure: (_, retryMs) => {
      if (told.push(retryMs) === 5) ending.abort();
    },
    signal: ending.signal,
  });
  assert.equal(told, [3, 3, 3, 3, 3]);
});

test('tells nothing of a pass that was cut short', async () => {
  const ending = new AbortController();
  await repeatWork({
    work: async () => {
      ending.abort();
      throw ending.signal.reason;
    },
    delayMs: () => 1,
    onFailure: () => assert.unreachable(),
    signal: ending.signal,
  });
});

test.run();
