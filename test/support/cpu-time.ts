import { readFileSync } from 'node:fs';
import { statFields } from '../../src/runtime/native/processes.ts';

const tickMs = 10;

/** What a process has run on a CPU until now, in milliseconds. */
export const cpuOf = (pid: number): number => ticks(pid, 11, 13) * tickMs;

/** The same with that of the children which it has seen end. */
export const cpuWithChildren = (pid: number): number => ticks(pid, 11, 15) * tickMs;

/** Fields 14 to 17 of proc_pid_stat(5): its own time as a user and in the kernel, then that of its children. */
function ticks(pid: number, from: number, to: number): number {
  const fields = statFields(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  return fields.slice(from, to).reduce((sum, field) => sum + Number(field), 0);
}
