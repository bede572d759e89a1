import { readFileSync, writeFileSync } from 'node:fs';
import { cpuOf } from '../../test/support/cpu-time.ts';
import { family, residentMemory } from '../../test/support/process-memory.ts';

const ticksPerSecond = 100;
const mib = 1024 * 1024;

/** User and system time of a process and its children so far, in seconds (Linux). */
export function cpuSeconds(pid: number): number {
  return family(pid).reduce((sum, member) => sum + cpuOf(member) / 1000, 0);
}

/** Seconds that the machine's processors have worked so far, whoever for. */
export function machineSeconds(): number {
  const [, line = ''] = /^cpu +(.*)$/m.exec(readFileSync('/proc/stat', 'utf8')) ?? [];
  const [user = 0, nice = 0, system = 0, , , interrupts = 0, soft = 0] = line.split(' ').map(Number);
  return (user + nice + system + interrupts + soft) / ticksPerSecond;
}

/** Highest resident memory of the process and its children since their start or the last `forgetPeak`, in MiB. */
export const peakMebibytes = (pid: number): number => residentMemory(pid).peak / mib;

/** The peak counts anew from what is resident now. */
export function forgetPeak(pid: number): void {
  for (const member of family(pid)) writeFileSync(`/proc/${member}/clear_refs`, '5');
}
