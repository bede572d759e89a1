import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { WITHOUT_BPF } from '../../../support/vm/types.ts';
import type { FormingRecord } from './driver/forming.ts';
import type { Records } from './driver/scenarios.ts';
import { declareAsked, declareCommon, judgeForming } from './judge.ts';
import { attackInVm, timeoutOfFile } from './run-in-vm.ts';

export const timeout = timeoutOfFile;

const test = suite('attacks on the guard on tier 2, where the kernel is preempted, in a virtual machine');
let told: Partial<Records> = {};

test.before(async () => {
  const names = [
    'outrun',
    'formingPreempted',
    'sharedByThread',
    'sharedByChild',
    'samples',
    'limits',
    'asked',
  ] as const;
  told = await attackInVm(2, names, { lsm: WITHOUT_BPF, kernelArguments: ['preempt=full'] });
});

test('who passes by a preempted hook is killed before it gets anything', () => {
  const { denied = 0, killed = 0, reported = 0, ...rest } = told.outrun ?? {};
  assert.equal(rest, { watched: true, tries: 400, leaked: false });
  assert.ok(killed > 0, 'nobody passed by the hook');
  assert.is(reported, killed);
  assert.is(denied + killed, 400);
});

declareCommon(test, { outcome: 'denied', call: 'EPERM', told: () => told });
declareAsked(test, () => told);

test('children are covered from their first moment on, whoever counts as their parent', () =>
  judgeForming(told.formingPreempted as FormingRecord));

test.run();
