import { suite } from 'uvu';
import { WITH_BPF } from '../../../support/vm/types.ts';
import type { DriverRecord } from './driver/records.ts';
import { declareMatrix } from './matrix.ts';
import { denying } from './phases.ts';
import { runInVm, timeoutOfFile } from './run-in-vm.ts';

export const timeout = timeoutOfFile;

const test = suite('attack paths to protected processes on tier 1, in a virtual machine');
const phases = [denying(1)];
let records: readonly DriverRecord[] = [];

test.before(async () => {
  records = await runInVm(WITH_BPF, phases, { processors: 1 });
});

declareMatrix(test, { phases, on: 'the virtual machine', records: () => records });

test.run();
