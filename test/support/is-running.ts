import { readFileSync } from 'node:fs';

/** Whether a process runs; one that has ended does not, though nobody has collected it yet. */
export function isRunning(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
