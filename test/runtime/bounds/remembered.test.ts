import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Remembered } from '../../../src/runtime/bounds/bounded-map.ts';

const test = suite('remembered answers');
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('gives the one answer while it is under way and until it is too old', async () => {
  let now = 0;
  const answers = new Remembered<number>(10, { mostMs: 100, now: () => now });
  const answer = Promise.resolve(1);
  assert.is(answers.keep('a', answer), answer);
  assert.is(answers.get('a'), answer);
  await answer;
  now = 99;
  assert.is(answers.get('a'), answer);
  now = 100;
  assert.is(answers.get('a'), undefined);
});

test('forgets a failure, and not the newer answer in its place', async () => {
  const answers = new Remembered<number>(10, { mostMs: 100, now: () => 0 });
  const [first, second] = [Promise.withResolvers<number>(), Promise.withResolvers<number>()];
  answers.keep('a', first.promise);
  answers.keep('a', second.promise);
  first.reject(new Error('first'));
  await settled();
  assert.is(answers.get('a'), second.promise);
  second.reject(new Error('second'));
  await settled();
  assert.is(answers.get('a'), undefined);
});

test.run();
