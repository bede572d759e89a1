import { join } from 'node:path';
import { mapEntries, openPinnedMap, type PinnedMap } from '../../../../../src/plugins/agent/bpf/map.ts';
import { mapFolder } from '../../../../../src/plugins/agent/guard/program-set.ts';
import { decodeProcess } from '../../../../../src/runtime/protocols/protection/bpf-layouts.ts';
import type { Machine } from './machine.ts';

/** Lends one of the agent's pinned tables. */
export function withTable<T>({ bpf }: Machine, name: string, use: (table: PinnedMap) => T): T {
  const table = openPinnedMap(join(mapFolder(bpf), name));
  try {
    return use(table);
  } finally {
    table.close();
  }
}

/** When the covered processes of this PID were started: one that is gone may still be in the table. */
export function coveredStarts(machine: Machine, pid: number): bigint[] {
  const all = withTable(machine, 'processes', (table) =>
    mapEntries(table).map(({ key }) => decodeProcess(key)),
  );
  return all.filter((process) => process.pid === pid).map(({ start }) => start);
}

/** PIDs of what the table of processes covers, decoys among them. */
export function coveredPids(machine: Machine): number[] {
  return withTable(machine, 'processes', (table) =>
    mapEntries(table).map(({ key }) => decodeProcess(key).pid),
  );
}

export function coveredCgroups(machine: Machine): bigint[] {
  return withTable(machine, 'cgroups', (table) => mapEntries(table).map(({ key }) => key.readBigUInt64LE()));
}
