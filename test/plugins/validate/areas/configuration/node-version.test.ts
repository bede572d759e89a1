import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { nodeVersion } from '../../../../../src/plugins/validate/areas/configuration.ts';
import { runCheck } from '../../../../../src/plugins/validate/run-check.ts';
import { fakeHost } from '../../host/fake-host.ts';
import { contextOf } from '../../test-context.ts';

const test = suite('the version of Node.js');

const stateOf = async (version: string, day: string) => {
  const host = fakeHost({ nodeVersion: version });
  return (await runCheck(nodeVersion, contextOf({ host, now: () => Date.parse(day) }))).state;
};

test('passes until the day on which its fixes end', async () => {
  assert.is(await stateOf('v22.22.0', '2027-04-29T23:59:59Z'), 'passed');
  assert.is(await stateOf('v22.22.0', '2027-04-30'), 'failed');
  assert.is(await stateOf('v25.1.0', '2026-11-22'), 'failed');
  assert.is(await stateOf('v24.21.0', '2026-11-22'), 'passed');
});

test('is not judged where nothing is known of it', async () => {
  assert.is(await stateOf('v30.0.0', '2026-11-22'), 'skipped');
  assert.is(await stateOf('nightly', '2026-11-22'), 'skipped');
});

test.run();
