import { decodeCrowd } from '../../../core/protection/layouts.ts';
import { visitEntries } from '../../../runtime/bpf/map-batch.ts';
import type { ProgramSet } from './program-set.ts';

/** Cgroups whose processes had no entry left in the table, so that the cgroup itself covers those beyond; by id. */
export function crowdedCgroups(set: ProgramSet): bigint[] {
  const crowded: bigint[] = [];
  visitEntries(set.map('crowds'), (_key, value) => {
    const { cgroup, beyond } = decodeCrowd(value);
    if (beyond > 0) crowded.push(cgroup);
  });
  return crowded.sort((a, b) => Number(a - b));
}

/** Calls back where other cgroups are crowded than the time before. */
export function createCrowdWatch(onChange: (crowded: readonly bigint[]) => void): (set: ProgramSet) => void {
  let before = '';
  return (set) => {
    const crowded = crowdedCgroups(set);
    const now = crowded.join();
    if (now !== before) onChange(crowded);
    before = now;
  };
}
