import { suite } from 'uvu';
import type { DriverRecord } from '../../plugins/agent/bypass/driver/records.ts';
import { declareMatrix } from '../../plugins/agent/bypass/matrix.ts';
import type { JudgedPhase } from '../../plugins/agent/bypass/phases.ts';
import { runInVm } from '../../plugins/agent/bypass/run-in-vm.ts';
import { MACHINES, type MachineName } from '../../support/vm/types.ts';

/** Alone on a machine it takes a fraction of it. */
const longestMs = 600_000;
/** For a file that declares one: a machine that was stuck is booted once more. */
export const timeoutOfFile = 2 * longestMs + 20_000;

/** The attack paths to protected processes in a machine that is booted with those security modules. */
export function runMatrix(
  machine: MachineName,
  lsm: readonly string[],
  phases: readonly JudgedPhase[],
): void {
  const names = phases.map(({ name }) => name).join(', ');
  const test = suite(`attack paths on ${machine}: ${names}`);
  let records: readonly DriverRecord[] = [];
  test.before(async () => {
    records = await runInVm(lsm, phases, { machine, timeoutMs: longestMs });
  });
  const on = MACHINES[machine].architecture === 'arm64' ? 'arm64' : 'the virtual machine';
  declareMatrix(test, { phases, on, records: () => records });
  test.run();
}
