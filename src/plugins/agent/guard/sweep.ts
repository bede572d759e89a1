import { decodeProcess } from '../../../core/protection/layouts.ts';
import { mapEntries } from '../../../runtime/bpf/map-batch.ts';
import type { ProgramSet } from './program-set.ts';

/**
 * Takes out processes that are gone and whose end the programs were not told of: before Linux 6.3 the kernel may have
 * been too busy for it, and a kernel of a cloud machine, 6.18, runs no program in soft interrupts that come upon threads
 * of its host's.
 * Only where the agent's PIDs are the host's, as the table has them.
 */
export function sweepGone(set: ProgramSet): void {
  if (set.ask('inspect', process.pid).process.pid !== process.pid) return;
  for (const name of ['processes', 'opened']) {
    const map = set.map(name);
    for (const { key } of mapEntries(map)) if (isGone(decodeProcess(key).pid)) map.delete(key);
  }
}

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
