import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Records } from './driver/scenarios.ts';
import { declareCommon } from './judge.ts';
import { attackHere } from './run-here.ts';

const test = suite('attacks on the guard on tier 3, on this machine');
let told: Partial<Records> = {};

test.before(async () => {
  told = await attackHere([
    'decoys',
    'early',
    'givenUp',
    'sharedByThread',
    'sharedByChild',
    'samples',
    'limits',
  ]);
});

test('killing decoys does not bring it off its tier', () =>
  assert.equal(told.decoys, { killed: 10, tiers: [3, 3], failures: 0 }));

test('what was to be covered before it was started counts as opened before', () =>
  assert.equal(told.early, { late: true, readsChecked: false, outcome: 'killed' }));

test('what was opened before is given up by exec', () =>
  assert.equal(told.givenUp, {
    before: { late: true, readsChecked: false },
    after: { late: false, readsChecked: false },
  }));

declareCommon(test, { outcome: 'killed', call: 'killed', told: () => told });

test.run();
