import { constants } from 'node:os';
import { SvcError } from '../../../runtime/errors.ts';
import { NativeError } from '../../../runtime/native/libc.ts';
import { encodeProtection } from '../../../runtime/protocols/protection/bpf-layouts.ts';
import type { ProcessFacts } from './contract.ts';
import { coverOne, DescendantWalk, gone, startOf, tableFull } from './descendants.ts';
import type { ProgramSet } from './program-set.ts';

const { E2BIG } = constants.errno;

/**
 * Covers a process and its existing descendants; later ones inherit.
 * @throws SvcError PROCESS_GONE, GUARD_FULL, PROTECTION_UNSETTLED
 */
export function coverProcess(set: ProgramSet, pid: number): ProcessFacts {
  const steps = coverSteps(set, pid);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** The same in short steps. Callers that stop early must call `return`, so that reads of earlier opens get checked. */
export function* coverSteps(set: ProgramSet, pid: number): Generator<void, ProcessFacts> {
  const root = coverOne(set, pid);
  if (root === undefined) throw gone(pid);
  const walk = new DescendantWalk(set, pid, root);
  const isOpened = () => [...walk.covered.values()].some(({ opened }) => opened);
  try {
    yield* walk.steps();
  } finally {
    if (isOpened()) set.attachLate();
  }
  const facts = inspectProcess(set, pid);
  if (facts?.start !== root.process.start) throw gone(pid);
  return { ...facts, openedBefore: isOpened() };
}

/** Undefined if the process does not exist. */
export function inspectProcess(set: ProgramSet, pid: number): ProcessFacts | undefined {
  const { error, process, cgroup, covered, opened } = set.ask('inspect', pid);
  return error === 0 ? { pid, start: process.start, cgroup, openedBefore: opened, covered } : undefined;
}

/**
 * Covers everything in a cgroup by the cgroup's id. Processes that enter it from now on are covered themselves, and
 * stay so when moved elsewhere; processes already in it must be covered one by one for that.
 * @throws SvcError GUARD_FULL
 */
export function coverCgroup(set: ProgramSet, id: bigint): void {
  try {
    set.map('cgroups').update(cgroupKey(id), encodeProtection(0));
  } catch (error) {
    if (error instanceof NativeError && error.errno === E2BIG) throw tableFull('cgroups');
    throw error;
  }
}

export const releaseCgroup = (set: ProgramSet, id: bigint): boolean =>
  set.map('cgroups').delete(cgroupKey(id));

export function cgroupKey(id: bigint): Buffer {
  const key = Buffer.alloc(8);
  key.writeBigUInt64LE(id);
  return key;
}

/** Remembers requests to cover while no programs are in force; `catchUp` covers them when there are. */
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

/**
 * Ignores a process that has ended meanwhile, and a full table: metrics show it, and the other processes are covered.
 */
function coverIfThere(set: ProgramSet, pid: number): void {
  try {
    coverProcess(set, pid);
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
  }
}

/** Facts from /proc, for when there is no program to ask. Undefined if the process does not exist. */
export function uncoveredFacts(pid: number): ProcessFacts | undefined {
  const start = startOf(pid);
  if (start === undefined) return undefined;
  return { pid, start, cgroup: 0n, openedBefore: false, covered: false };
}
