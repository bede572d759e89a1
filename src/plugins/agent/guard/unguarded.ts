import { SvcError } from '../../../core/errors.ts';
import type { ProcessFacts } from './contract.ts';
import { coverCgroup, coverProcess } from './cover.ts';
import { gone } from './cover-errors.ts';
import { isTraced, startOf } from './proc-facts.ts';
import type { ProgramSet } from './program-set.ts';

/** What was asked to be covered while nothing could be; it is covered as soon as something can. */
export interface Unguarded {
  /** @throws SvcError PROCESS_GONE */
  remember(pid: number): ProcessFacts;
  rememberCgroup(id: bigint): void;
  forgetCgroup(id: bigint): void;
  catchUp(set: ProgramSet): void;
}

export function createUnguarded(): Unguarded {
  const processes = new Map<number, bigint>();
  const cgroups = new Set<bigint>();
  return {
    remember(pid) {
      const facts = uncoveredFacts(pid);
      if (facts === undefined) throw gone(pid);
      for (const [other, start] of processes) if (startOf(other) !== start) processes.delete(other);
      processes.set(pid, facts.start);
      return facts;
    },
    rememberCgroup: (id) => void cgroups.add(id),
    forgetCgroup: (id) => void cgroups.delete(id),
    catchUp(set) {
      for (const [pid, start] of processes) if (startOf(pid) === start) coverIfThere(set, pid);
      for (const id of cgroups) coverCgroup(set, id);
    },
  };
}

/** One that has ended meanwhile is no matter; a full table is told of by its figures and covers less, not nothing. */
function coverIfThere(set: ProgramSet, pid: number): void {
  try {
    coverProcess(set, pid);
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
  }
}

/** Facts from /proc, where there is no program to ask. Undefined for a process that is not there. */
export function uncoveredFacts(pid: number): ProcessFacts | undefined {
  const start = startOf(pid);
  if (start === undefined) return undefined;
  return { pid, start, cgroup: 0n, traced: isTraced(pid), openedBefore: false, covered: false };
}
