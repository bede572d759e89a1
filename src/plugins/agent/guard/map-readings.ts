import { readFileSync } from 'node:fs';
import {
  decodeCrowd,
  decodeProtectionFlags,
  protectionFlags,
  tallies,
} from '../../../runtime/protocols/protection/bpf-layouts.ts';
import { mapEntries, sumPerCpu, visitEntries } from '../bpf/map.ts';
import type { ProgramSet } from './program-set.ts';

/** Counters of the programs other than access events, since the maps were created. */
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

/** Ids of cgroups that used up their entries in the table, so that only the cgroup covers further processes. */
export function crowdedCgroups(set: ProgramSet): bigint[] {
  const crowded: bigint[] = [];
  visitEntries(set.map('crowds'), (_key, value) => {
    const { cgroup, beyond } = decodeCrowd(value);
    if (beyond > 0) crowded.push(cgroup);
  });
  return crowded.sort((a, b) => Number(a - b));
}

/** Calls back when the set of crowded cgroups has changed. */
export function createCrowdWatch(onChange: (crowded: readonly bigint[]) => void): (set: ProgramSet) => void {
  let before = '';
  return (set) => {
    const crowded = crowdedCgroups(set);
    const now = crowded.join();
    if (now !== before) onChange(crowded);
    before = now;
  };
}

const isLate = (value: Buffer) => (decodeProtectionFlags(value) & protectionFlags.late) !== 0;

/** Whether anything is covered that another process may have opened before. */
export function hasPreOpened(set: ProgramSet): boolean {
  let found = false;
  for (const name of ['processes', 'cgroups']) {
    visitEntries(set.map(name), (_key, value) => {
      found ||= isLate(value);
    });
  }
  return found;
}

/** Passes between two checks whether the hook on every read is still needed; each check visits all processes. */
const passesBetweenChecks = 15;
const opensToForget = 32_768;

/** Keeps the check of every read attached exactly while anything is covered that was opened before. */
export function createLateWatch(): (set: ProgramSet, tallies: Tallies) => void {
  let known = 0;
  let passes = 0;
  return (set, { covered_late: covered }) => {
    if (covered !== known) set.attachLate();
    else if (set.isLateAttached && ++passes % passesBetweenChecks === 0 && !hasPreOpened(set))
      set.detachLate();
    known = covered;
    watchAgain(set);
  };
}

/**
 * After the table of opens was full, every process counts as opened. New ones need not once the table has room again.
 */
function watchAgain(set: ProgramSet): void {
  if (set.settings().watchingSince !== watchingNever) return;
  if (mapEntries(set.map('opened')).length < opensToForget) set.change({ watchingSince: watchingFromNow() });
}

/** Nanoseconds since boot, to 10 ms. */
export function bootTime(): bigint {
  const seconds = readFileSync('/proc/uptime', 'latin1').split(' ', 1)[0] ?? '';
  return BigInt(Math.round(Number(seconds) * 100)) * 10_000_000n;
}

/** From when on opens are seen: a little later than now, because the clock may lag. */
export const watchingFromNow = (): bigint => bootTime() + 20_000_000n;

/** `SVC_NEVER` of bpf/svc.h. */
export const watchingNever = 2n ** 64n - 1n;
