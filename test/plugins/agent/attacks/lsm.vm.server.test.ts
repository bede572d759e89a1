import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { WITH_BPF } from '../../../support/vm/types.ts';
import type { FormingRecord } from './driver/forming.ts';
import type { Records } from './driver/scenarios.ts';
import { declareAsked, declareCommon, judgeForming } from './judge.ts';
import { attackInVm, timeoutOfFile } from './run-in-vm.ts';

export const timeout = timeoutOfFile;

const test = suite('attacks on the guard on tier 1, in a virtual machine');
let told: Partial<Records> = {};

test.before(async () => {
  const own = ['takeover', 'decoys', 'flood', 'early', 'givenUp'] as const;
  const common = ['sharedByThread', 'sharedByChild', 'samples', 'limits', 'asked'] as const;
  const more = ['limitedContainer', 'migrated', 'forming'] as const;
  told = await attackInVm(1, [...own, ...common, ...more], { lsm: WITH_BPF });
});

test('a guard that may have tier 1 takes over from one on tier 2', () =>
  assert.equal(told.takeover, { first: 2, second: 1, perCall: 1 }));

test('killing decoys does not bring it off its tier', () =>
  assert.equal(told.decoys, { killed: 10, tiers: [1, 1], failures: 0 }));

test('a flood of hits does not bring it off its tier, and what is lost is counted', () => {
  const { attempts = 0, reported = 0, lost = 0, ...rest } = told.flood ?? {};
  assert.equal(rest, { tier: 1, failures: 0, reportedAfter: 1 });
  assert.ok(lost > 0, 'the ring was never full');
  assert.is(reported + lost, attempts);
});

test('what was to be covered before it was started counts as opened before', () =>
  assert.equal(told.early, { late: true, readsChecked: true, outcome: 'denied' }));

test('reads are checked for no longer than somebody may have what was opened before', () =>
  assert.equal(told.givenUp, {
    before: { late: true, readsChecked: true },
    after: { late: false, readsChecked: false },
  }));

declareCommon(test, { outcome: 'denied', call: 'EPERM', told: () => told });
declareAsked(test, () => told);

test('runc can limit a container whose cgroup is covered', () =>
  assert.equal(told.limitedContainer, { status: 0, output: '', covered: true }));

test('a child that is made straight into another cgroup is covered', () =>
  assert.equal(told.migrated, { parentCovered: true, childCovered: true, outcome: 'denied' }));

test('children are covered from their first moment on, whoever counts as their parent', () => {
  const { forming } = told;
  judgeForming(forming as FormingRecord);
  assert.is(forming?.covered.killed, 0, 'what is denied needs no killing');
});

test.run();
