import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { tryPatiently } from '../../../../src/plugins/agent/guard/trial.ts';

const test = suite('a canary');

/** An attempt that comes to these, one after the other, and how often it was made. */
function attempts(...outcomes: (string | undefined)[]) {
  let made = 0;
  const attempt = async () => outcomes[made++];
  return { attempt, made: () => made };
}

test('that fails on a busy machine is tried again', async () => {
  const { attempt, made } = attempts('not noticed', undefined, 'not noticed');
  assert.is(await tryPatiently(attempt), undefined);
  assert.is(made(), 2);
});

test('that fails three times says what was wrong', async () => {
  const { attempt, made } = attempts('not noticed', 'not noticed', 'could not be read', undefined);
  assert.is(await tryPatiently(attempt), 'could not be read');
  assert.is(made(), 3);
});

test.run();
