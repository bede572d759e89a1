import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { VerifyBudget } from '../../../../src/objects/read/body/verify-budget.ts';
import { S3Error } from '../../../../src/objects/s3/error.ts';

const test = suite('verify budget');
const { signal } = new AbortController();
const patientTimes = { holdDeadline: 60_000, longestWait: 60_000 };
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('grants within its bound and makes others wait in order', async () => {
  const budget = new VerifyBudget(100, patientTimes);
  const first = await budget.acquire({ bytes: 60, signal });
  const order: string[] = [];
  const waiting = [
    budget.acquire({ bytes: 50, signal }).then(() => order.push('large')),
    budget.acquire({ bytes: 10, signal }).then(() => order.push('small')),
  ];
  await settled();
  assert.equal(order, []);
  first?.release(20);
  await Promise.all(waiting);
  assert.equal(order, ['large', 'small']);
  assert.is(budget.used, 100);
});

test('gives back once what is held, however often it is asked', async () => {
  const budget = new VerifyBudget(100, patientTimes);
  const hold = await budget.acquire({ bytes: 60, signal });
  hold?.release(1000);
  hold?.releaseAll();
  hold?.releaseAll();
  assert.is(budget.used, 0);
});

test('more than the whole is granted as the whole', async () => {
  const budget = new VerifyBudget(100, patientTimes);
  const hold = await budget.acquire({ bytes: 500, signal });
  assert.is(budget.used, 100);
  hold?.releaseAll();
  assert.is(budget.used, 0);
});

test('who gives up or goes away leaves nothing behind', async () => {
  const budget = new VerifyBudget(100, patientTimes);
  const hold = await budget.acquire({ bytes: 100, signal });
  assert.is(await budget.acquire({ bytes: 1, signal, patience: 1 }), undefined);
  const gone = new AbortController();
  const waiting = budget.acquire({ bytes: 100, signal: gone.signal });
  const behind = budget.acquire({ bytes: 30, signal });
  gone.abort(new Error('gone'));
  await waiting.then(
    () => assert.unreachable(),
    (error: Error) => assert.is(error.message, 'gone'),
  );
  hold?.releaseAll();
  (await behind)?.releaseAll();
  assert.is(budget.used, 0);
});

test('who waits too long is told to slow down', async () => {
  const budget = new VerifyBudget(100, { holdDeadline: 60_000, longestWait: 5 });
  await budget.acquire({ bytes: 100, signal });
  await budget.acquire({ bytes: 1, signal }).then(
    () => assert.unreachable(),
    (error: S3Error) => {
      assert.ok(error instanceof S3Error);
      assert.equal([error.code, error.status], ['SlowDown', 503]);
    },
  );
});

test('the oldest hold beyond its deadline is evicted when others wait, and not before', async () => {
  const budget = new VerifyBudget(100, { holdDeadline: 10, longestWait: 60_000 });
  const evicted: string[] = [];
  const slow = await budget.acquire({
    bytes: 60,
    signal,
    evict: () => {
      evicted.push('slow');
      slow?.releaseAll();
    },
  });
  const other = await budget.acquire({ bytes: 40, signal, evict: () => evicted.push('other') });
  await new Promise((resolve) => setTimeout(resolve, 30));
  assert.equal(evicted, []);
  const third = await budget.acquire({ bytes: 50, signal });
  assert.equal(evicted, ['slow']);
  for (const hold of [other, third]) hold?.releaseAll();
  assert.is(budget.used, 0);
});

test.run();
