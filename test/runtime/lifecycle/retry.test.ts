import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type RetryOptions, retry, sleep } from '../../../src/runtime/lifecycle/wait.ts';

const retries = suite('retries');
const quick: RetryOptions = { initialMs: 1, maxMs: 1, isRetryable: () => true };

retries('tries until it succeeds and tells of each retry', async () => {
  const seen: unknown[] = [];
  const attempt = async (count: number) => (count < 4 ? fail(`no ${count}`) : count);
  const onRetry = (error: unknown, delayMs: number, count: number) =>
    seen.push([String(error), delayMs <= 1, count]);
  assert.is(await retry(attempt, { ...quick, onRetry }), 4);
  assert.equal(
    seen,
    [1, 2, 3].map((count) => [`Error: no ${count}`, true, count]),
  );
});

retries('gives up after the last attempt with its error', async () => {
  assert.is(
    await reasonOf(retry(async (count) => fail(`no ${count}`), { ...quick, maxAttempts: 3 })),
    'no 3',
  );
});

retries('does not repeat what cannot be fixed', async () => {
  const isRetryable = (error: unknown) => (error as Error).message !== 'no 2';
  assert.is(await reasonOf(retry(async (count) => fail(`no ${count}`), { ...quick, isRetryable })), 'no 2');
});

retries('begins no attempt after the time is up', async () => {
  const options = { initialMs: 3_600_000, maxMs: 3_600_000, isRetryable: () => true };
  assert.is(await reasonOf(retry(async () => fail('no'), { ...options, maxElapsedMs: 0 })), 'no');
});

retries('ends at once with the reason of an abort, while waiting and while trying', async () => {
  const waiting = new AbortController();
  const long = { initialMs: 3_600_000, maxMs: 3_600_000, isRetryable: () => true, signal: waiting.signal };
  const onRetry = () => setImmediate(() => waiting.abort(new Error('enough')));
  assert.is(await reasonOf(retry(async () => fail('no'), { ...long, onRetry })), 'enough');

  const trying = new AbortController();
  const attempt = async () => {
    trying.abort(new Error('enough'));
    return fail('no');
  };
  assert.is(await reasonOf(retry(attempt, { ...quick, signal: trying.signal })), 'enough');
  assert.is(await reasonOf(retry(async () => 1, { ...quick, signal: trying.signal })), 'enough');
});

retries('a wait that is not aborted ends by itself', async () => {
  await sleep(1);
  await sleep(1, new AbortController().signal);
});

function fail(message: string): never {
  throw new Error(message);
}

async function reasonOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('it did not fail');
}

retries.run();
