import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { FileResult } from './events.ts';
import { runFailedAlone } from './second-run.ts';

const test = suite('second runs of the runner');

const result = (file: string, ...errors: string[]): FileResult => ({
  file,
  passed: 1,
  failures: errors.map((error) => ({ name: 'a test', error })),
  skips: [],
  milliseconds: 1,
  output: '',
});

/** Second runs of which these fail; remembers what ran, and that nothing ran beside it. */
function host(failing: readonly string[] = []) {
  const ran: string[] = [];
  let running = 0;
  const run = async (file: string) => {
    assert.is(running++, 0, 'alone');
    ran.push(file);
    await new Promise(setImmediate);
    running--;
    return failing.includes(file) ? result(file, 'again') : result(file);
  };
  return { ran, run };
}

test('leave files alone that passed', async () => {
  const { ran, run } = host();
  const first = [result('a'), result('b')];
  assert.equal(await runFailedAlone(first, run), { results: first, unsteady: [] });
  assert.equal(ran, []);
});

test('tell what passes alone from what fails again', async () => {
  const { ran, run } = host(['c']);
  const first = [result('a'), result('b', 'late'), result('c', 'wrong')];
  const { results, unsteady } = await runFailedAlone(first, run);
  assert.equal(ran, ['b', 'c']);
  assert.equal(results, [result('a'), result('b'), result('c', 'again')]);
  assert.equal(unsteady, [result('b', 'late')]);
});

test('do not happen where many fail', async () => {
  const { ran, run } = host();
  const first = ['a', 'b', 'c', 'd'].map((file) => result(file, 'wrong'));
  assert.equal(await runFailedAlone(first, run), { results: first, unsteady: [] });
  assert.equal(ran, []);
});

test.run();
