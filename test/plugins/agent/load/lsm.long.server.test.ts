import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { assertComplete } from './support/expectation.ts';
import { floodInVm } from './support/vm.ts';

const test = suite('10,000 hits a second at the real agent on tier 1');

/** More than twice as many as the ring of hits holds. */
test('all arrive', async () => {
  const record = await floodInVm({ tier: 1, perSecond: 10_000, seconds: 10 });
  assert.is(record.attempts, 100_000);
  assertComplete(record);
});

test.run();
