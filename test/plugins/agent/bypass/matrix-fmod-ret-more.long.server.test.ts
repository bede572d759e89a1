import { suite } from 'uvu';
import { WITHOUT_BPF } from '../../../support/vm/types.ts';
import type { DriverRecord } from './driver/records.ts';
import { declareMatrix } from './matrix.ts';
import { auditing, denyingByCgroup, unprotected, watching } from './phases.ts';
import { runInVm, timeoutOfFile } from './run-in-vm.ts';

export const timeout = timeoutOfFile;

const test = suite(
  'attack paths to processes covered by their cgroup on tier 2, and tier 3 on the same kernel',
);
const phases = [unprotected, auditing(2), denyingByCgroup(2), watching];
let records: readonly DriverRecord[] = [];

test.before(async () => {
  records = await runInVm(WITHOUT_BPF, phases);
});

declareMatrix(test, { phases, on: 'the virtual machine', records: () => records });

test.run();
