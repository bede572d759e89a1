import { suite } from 'uvu';
import { WITH_BPF } from '../../../support/vm/types.ts';
import type { DriverRecord } from './driver/records.ts';
import { declareMatrix } from './matrix.ts';
import { auditing, denyingByCgroup, killing, unprotected } from './phases.ts';
import { runInVm, timeoutOfFile } from './run-in-vm.ts';

export const timeout = timeoutOfFile;

const test = suite(
  'attack paths to processes covered by their cgroup on tier 1, and tier 3 on the same kernel',
);
const phases = [unprotected, auditing(1), denyingByCgroup(1), killing];
let records: readonly DriverRecord[] = [];

test.before(async () => {
  records = await runInVm(WITH_BPF, phases);
});

declareMatrix(test, { phases, on: 'the virtual machine', records: () => records });

test.run();
