import { readFileSync } from 'node:fs';
import { family } from '../../test/support/process-memory.ts';

const ticksPerSecond = 100;

/** User and system time of a process and its children so far, in seconds (Linux). */
export function cpuSeconds(pid: number): number {
  return family(pid).reduce((sum, member) => sum + ownSeconds(member), 0);
}

/** Highest resident memory of the process so far, in MiB. */
export function peakMebibytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
}

function ownSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}
