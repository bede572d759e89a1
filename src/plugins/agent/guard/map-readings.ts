import { readFileSync } from 'node:fs';
import {
  decodeCrowd,
  decodeProtectionFlags,
  protectionFlags,
  tallies,
} from '../../../core/protection/bpf-layouts.ts';
import { mapEntries, sumPerCpu, visitEntries } from '../../../runtime/bpf/map.ts';
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

const isLate = (value: Buffer) => (decodeProtectionFlags(value) & protectionFlags.late) !== 0;

/** Whether anything is covered that somebody may have opened before. */
export function hasPreOpened(set: ProgramSet): boolean {
  let found = false;
  for (const name of ['processes', 'cgroups']) {
    visitEntries(set.map(name), (_key, value) => {
      found ||= isLate(value);
    });
  }
  return found;
}

/** Passes between two checks whether the hook on every read is still needed: each goes through all processes. */
const passesBetweenChecks = 15;
const opensToForget = 32_768;

/** Keeps the check of every read attached for as long as anything is covered that was opened before, and no longer. */
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

/** Once the table of openings was full, every process counted as opened; new ones need not any more when it has room. */
function watchAgain(set: ProgramSet): void {
  if (set.settings().watchingSince !== watchingNever) return;
  if (mapEntries(set.map('opened')).length < opensToForget) set.change({ watchingSince: watchingFromNow() });
}

/** Nanoseconds since boot, to 10 ms. */
export function bootTime(): bigint {
  const seconds = readFileSync('/proc/uptime', 'latin1').split(' ', 1)[0] ?? '';
  return BigInt(Math.round(Number(seconds) * 100)) * 10_000_000n;
}

/** A time that openings are seen from: later than now by what the clock may lag. */
export const watchingFromNow = (): bigint => bootTime() + 20_000_000n;

/** `SVC_NEVER` of bpf/svc.h. */
export const watchingNever = 2n ** 64n - 1n;
