import {
  decodeCrowd,
  decodeProcess,
  encodeProcess,
  type ProcessKey,
} from '../../../core/protection/layouts.ts';
import { mapEntries } from '../../../runtime/bpf/map-batch.ts';
import { readProcess } from '../../../runtime/native/process-table.ts';
import { threadsOf } from './proc-facts.ts';
import type { ProgramSet } from './program-set.ts';

/**
 * Takes out processes that are gone and whose end the programs were not told of: before Linux 6.3 the kernel may have
 * been too busy for it, and a kernel of a cloud machine, 6.18, runs no program in soft interrupts that come upon threads
 * of its host's. Those too that have ended and that nobody reaps: they have no memory any more, and a pod may have as many
 * of them as the table has room.
 * Only where the agent's PIDs are the host's, as the table has them.
 */
export function sweepGone(set: ProgramSet): void {
  if (set.ask('inspect', process.pid).process.pid !== process.pid) return;
  const opened = set.map('opened');
  for (const process of goneIn(set, 'processes')) set.forget(process);
  for (const process of goneIn(set, 'opened')) opened.delete(encodeProcess(process));
  removeEmptyCrowds(set);
}

const goneIn = (set: ProgramSet, table: 'processes' | 'opened'): ProcessKey[] =>
  mapEntries(set.map(table))
    .map(({ key }) => decodeProcess(key))
    .filter(({ pid }) => isGone(pid));

/** Of a cgroup that is gone in all likelihood; one that is there is counted anew with its next process. */
function removeEmptyCrowds(set: ProgramSet): void {
  const crowds = set.map('crowds');
  for (const { key, value } of mapEntries(crowds)) if (decodeCrowd(value).processes <= 0) crowds.delete(key);
}

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return isUnreaped(pid);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

/** A process whose first thread has ended while others run looks the same but for those. */
function isUnreaped(pid: number): boolean {
  return readProcess(pid)?.state === 'Z' && threadsOf(pid).length < 2;
}
