import { readFileSync } from 'node:fs';
import { statFields } from '../../../../../src/runtime/native/processes.ts';

const tickMs = 10;

/** What a process has run on a CPU until now, in milliseconds. */
export function cpuOf(pid: number): number {
  const fields = statFields(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  return (Number(fields[11]) + Number(fields[12])) * tickMs;
}
