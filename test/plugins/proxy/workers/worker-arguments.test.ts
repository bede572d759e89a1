import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { workerArguments } from '../../../../src/plugins/proxy/index.ts';

const test = suite('the command line of a worker');

test('turns the health server off', () => {
  assert.equal(workerArguments(['run', 'proxy', '--workers', '2']), [
    ...['run', 'proxy', '--workers', '2'],
    ...['--health', ''],
  ]);
});

test('does so too where the primary was given an address for it', () => {
  for (const health of [['--health', ':8191'], ['--health=:8191'], ['--health', ''], ['--health=']])
    assert.equal(workerArguments(['run', 'proxy', ...health, '--strict']), [
      ...['run', 'proxy', '--strict'],
      ...['--health', ''],
    ]);
});

test.run();
