import { allProcesses, type ProcessEntry } from '../../../runtime/native/process-table.ts';

/** Whether nobody outside of the process group could continue it: the kernel does not stop such a group then. */
export function isOrphaned(group: number, table: readonly ProcessEntry[] = allProcesses()): boolean {
  const byPid = new Map(table.map((entry) => [entry.pid, entry]));
  return !table.some((entry) => {
    const parent = byPid.get(entry.parent);
    return entry.group === group && parent?.session === entry.session && parent.group !== group;
  });
}

/** Whether the process shares its group with others than those that wait for it, as in a shell's pipeline. */
export function hasPartners(pid: number, table: readonly ProcessEntry[] = allProcesses()): boolean {
  const byPid = new Map(table.map((entry) => [entry.pid, entry]));
  const own = new Set<number>();
  for (let entry = byPid.get(pid); entry && !own.has(entry.pid); entry = byPid.get(entry.parent))
    own.add(entry.pid);
  const group = byPid.get(pid)?.group;
  return table.some((entry) => entry.group === group && !own.has(entry.pid));
}
