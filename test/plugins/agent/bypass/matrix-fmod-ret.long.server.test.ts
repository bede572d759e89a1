import { suite } from 'uvu';
import { WITHOUT_BPF } from '../../../support/vm/types.ts';
import type { DriverRecord } from './driver/records.ts';
import { declareMatrix } from './matrix.ts';
import { auditing, denying, denyingByCgroup, unprotected, watching } from './phases.ts';
import { runInVm, timeoutOfFile } from './run-in-vm.ts';

export const timeout = timeoutOfFile;

const test = suite(
  'attack paths to processes protected on tier 2, by themselves and by their cgroup, and tier 3 on the same kernel',
);
const phases = [unprotected, denying(2), auditing(2), denyingByCgroup(2), watching];
let records: readonly DriverRecord[] = [];

test.before(async () => {
  records = await runInVm(WITHOUT_BPF, phases);
});

declareMatrix(test, { phases, on: 'the virtual machine', records: () => records });

test.run();
