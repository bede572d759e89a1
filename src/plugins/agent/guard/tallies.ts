import { tallies } from '../../../core/protection/layouts.ts';
import { sumPerCpu } from '../../../runtime/bpf/per-cpu.ts';
import type { ProgramSet } from './program-set.ts';

/** What the programs count beside hits, since the maps were made. */
export type Tallies = Readonly<Record<(typeof tallies)[number], number>>;

export function readTallies(set: ProgramSet): Tallies {
  const map = set.map('tallies');
  const entries = tallies.map((name, index) => {
    const key = Buffer.alloc(4);
    key.writeUInt32LE(index);
    return [name, Number(sumPerCpu(map.lookup(key) as Buffer, map.facts.valueSize))] as const;
  });
  return Object.fromEntries(entries) as Record<(typeof tallies)[number], number>;
}
