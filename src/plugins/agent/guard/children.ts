import { existsSync } from 'node:fs';
import { allProcesses } from '../../../runtime/native/process-table.ts';
import { readOfTask, threadsOf } from './proc-facts.ts';

/** The children of a process, in as many lists as come about; ended ones that were not reaped are among them. */
export type Children = (pid: number) => Iterable<readonly number[]>;

/** For one look at several processes. @throws Error where /proc cannot be read; so do the lists */
export function lookForChildren(): Children {
  return hasLists() ? listedChildren : scannedChildren();
}

/** Kernels without CONFIG_PROC_CHILDREN have none. */
const hasLists = () => existsSync(`/proc/${process.pid}/task/${process.pid}/children`);

/** A list for each thread. */
export function* listedChildren(pid: number): Generator<readonly number[]> {
  for (const thread of threadsOf(pid)) {
    const list = readOfTask(`/proc/${pid}/task/${thread}/children`);
    yield list.split(' ').filter(Boolean).map(Number);
  }
}

/** All processes are read once, now. */
export function scannedChildren(): Children {
  const byParent = Map.groupBy(allProcesses(), ({ parent }) => parent);
  return (pid) => [(byParent.get(pid) ?? []).map((child) => child.pid)];
}
