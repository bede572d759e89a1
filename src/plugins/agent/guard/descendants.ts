import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { exitStatus, SvcError } from '../../../runtime/errors.ts';
import { partsOf } from '../../../runtime/native/proc-text.ts';
import { allProcesses, readProcess, statFields } from '../../../runtime/native/processes.ts';
import {
  decodeCrowd,
  decodeProcess,
  encodeProcess,
  type ManageReply,
  type ProcessKey,
} from '../../../runtime/protocols/protection/bpf-layouts.ts';
import { mapEntries } from '../bpf/map.ts';
import type { ProgramSet } from './program-set.ts';

const { E2BIG, EDQUOT, ESRCH } = constants.errno;

/** Sweeping a full table takes about a second. */
const sweepEveryMs = 2_000;
let sweptAt = Number.NEGATIVE_INFINITY;

/** A covered process, and whether another process had opened it before. */
export interface Covered {
  readonly process: ProcessKey;
  readonly opened: boolean;
}

/**
 * Covers one process. If the table, or the cgroup's share of it, is full, entries of dead processes are swept first.
 * @returns undefined if the process does not exist
 * @throws SvcError GUARD_FULL, GUARD_SHARE_FULL
 */
export function coverOne(set: ProgramSet, pid: number): Covered | undefined {
  const first = set.ask('protect', pid);
  const { error, process, opened } = isFull(first) && makeRoom(set) ? set.ask('protect', pid) : first;
  if (error === -ESRCH) return undefined;
  if (error === -EDQUOT) throw shareFull(pid);
  if (error !== 0) throw tableFull('processes');
  return { process, opened };
}

const isFull = ({ error }: ManageReply) => error === -E2BIG || error === -EDQUOT;

/** @returns whether a sweep was made */
function makeRoom(set: ProgramSet): boolean {
  if (performance.now() - sweptAt < sweepEveryMs) return false;
  sweepGone(set);
  sweptAt = performance.now();
  return true;
}

/** Two passes are enough, and a few more if processes end meanwhile. */
const mostLooks = 8;

/**
 * Covers the existing descendants of a covered process. Children of a covered process inherit coverage, so a pass can
 * miss only those whose parents fork or end before the pass reaches them: passes repeat until one finds nobody new.
 */
export class DescendantWalk {
  /** By PID; includes the process itself. */
  readonly covered: Map<number, Covered>;
  readonly #set: ProgramSet;
  readonly #root: number;
  #looks = 0;
  #isSettled = true;

  constructor(set: ProgramSet, root: number, covered: Covered) {
    this.#set = set;
    this.#root = root;
    this.covered = new Map([[root, covered]]);
  }

  /** A step reads one list of children. @throws SvcError PROCESS_GONE, GUARD_FULL, PROTECTION_UNSETTLED */
  *steps(): Generator<void, void> {
    do {
      if (this.#looks === mostLooks) throw unsettled(this.#root, 'it keeps starting processes');
      this.#isSettled = true;
      yield* this.#look();
      this.#looks += 1;
    } while (!this.#isSettled);
  }

  *#look(): Generator<void, void> {
    const childrenOf = lookForChildren();
    const family = new Set([this.#root]);
    // also visits those that are added during the loop
    for (const parent of family) {
      for (const children of childrenOf(parent)) {
        if (children.length > 0 && this.#isStill(parent)) {
          for (const child of children) {
            this.#cover(child);
            family.add(child);
          }
        }
        yield;
      }
    }
  }

  /** Whether the PID still belongs to the covered process: otherwise the list of children may be another process's. */
  #isStill(pid: number): boolean {
    const { error, process } = this.#set.ask('inspect', pid);
    if (error === 0 && process.start === this.covered.get(pid)?.process.start) return true;
    if (pid === this.#root) throw gone(pid);
    // its children have another parent now, which this pass may have visited already
    this.covered.delete(pid);
    this.#isSettled = false;
    return false;
  }

  #cover(pid: number): void {
    if (this.covered.has(pid)) return;
    const hadEntry = this.#looks > 0 && this.#hasEntry(pid);
    const covered = coverOne(this.#set, pid);
    if (covered === undefined) return;
    this.covered.set(pid, covered);
    if (!hadEntry) this.#isSettled = false;
  }

  #hasEntry(pid: number): boolean {
    const { error, process } = this.#set.ask('inspect', pid);
    return error === 0 && this.#set.map('processes').lookup(encodeProcess(process)) !== undefined;
  }
}

/** The children of a process, in any number of lists; includes ended ones that were not reaped. */
export type Children = (pid: number) => Iterable<readonly number[]>;

/** For one pass over several processes. @throws Error if /proc cannot be read; so do the lists */
export function lookForChildren(): Children {
  return hasLists() ? listedChildren : scannedChildren();
}

/** Kernels without CONFIG_PROC_CHILDREN have no lists. */
const hasLists = () => existsSync(`/proc/${process.pid}/task/${process.pid}/children`);

/** One list for each thread. */
export function* listedChildren(pid: number): Generator<readonly number[]> {
  for (const thread of threadsOf(pid)) {
    yield childrenIn(`/proc/${pid}/task/${thread}/children`);
  }
}

/** As many PIDs as the table has entries. */
const longestList = { separator: ' ', maxBytes: 8 * 65_536 } as const;

function childrenIn(path: string): number[] {
  try {
    return unlessGone(() => [...partsOf(path, longestList)].map(Number), []);
  } catch (error) {
    throw error instanceof RangeError ? tableFull('processes') : error;
  }
}

/** Reads all processes once, at the call. */
export function scannedChildren(): Children {
  const byParent = Map.groupBy(allProcesses(), ({ parent }) => parent);
  return (pid) => [(byParent.get(pid) ?? []).map((child) => child.pid)];
}

export function gone(pid: number): SvcError {
  return new SvcError('PROCESS_GONE', `Process ${pid} has ended`, { nextStep: 'Start it again.' });
}

export function tableFull(what: 'processes' | 'cgroups' | 'tokens'): SvcError {
  return new SvcError('GUARD_FULL', `The table of covered ${what} is full`, {
    nextStep: 'Spread the protected workloads over more nodes.',
    exitStatus: exitStatus.system,
  });
}

/** Only this cgroup has reached its limit: other workloads of the node still have room. */
function shareFull(pid: number): SvcError {
  return new SvcError(
    'GUARD_SHARE_FULL',
    `The cgroup of process ${pid} has reached the limit of covered processes of one cgroup`,
    {
      nextStep: 'Have the workload run fewer processes at a time, or spread them over more containers.',
      exitStatus: exitStatus.system,
    },
  );
}

/** The interrupted work may have covered only a part. */
export function unsettled(pid: number, why: string): SvcError {
  return new SvcError('PROTECTION_UNSETTLED', `Process ${pid} may not be fully covered: ${why}`, {
    nextStep: 'Register the process again.',
    exitStatus: exitStatus.unavailable,
  });
}

const startField = 19;
const tick = 10_000_000n;

/** Start time of a process, in nanoseconds since boot, to 10 ms; undefined if the process does not exist. */
export function startOf(pid: number): bigint | undefined {
  try {
    const fields = statFields(readFileSync(`/proc/${pid}/stat`, 'latin1'));
    return BigInt(fields[startField] ?? 0) * tick;
  } catch {
    return undefined;
  }
}

/**
 * Whether a debugger is attached to any thread of a process. A step reads one thread: how many there are, and how long
 * that takes (a process may have 65,536 groups), the process decides.
 * @throws Error if /proc cannot be read
 */
export function* tracedSteps(pid: number): Generator<void, boolean> {
  for (const thread of threadsOf(pid)) {
    if (/^TracerPid:\t[1-9]/m.test(readOfTask(`/proc/${pid}/task/${thread}/status`))) return true;
    yield;
  }
  return false;
}

/** Ids of a process's threads; none if the process does not exist. @throws Error if they cannot be read */
const threadsOf = (pid: number): string[] => unlessGone(() => readdirSync(`/proc/${pid}/task`), []);

/**
 * Empty if the task has ended meanwhile. Reads UTF-8, for which Node has a faster path than for other encodings.
 * @throws Error if the file exists and cannot be read
 */
const readOfTask = (path: string): string => unlessGone(() => readFileSync(path, 'utf8'), '');

function unlessGone<T>(read: () => T, nothing: T): T {
  try {
    return read();
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return nothing;
    throw error;
  }
}

/**
 * Removes entries of processes whose end the programs did not see: before Linux 6.3 the kernel could skip the program
 * when busy, and one cloud machine's kernel, 6.18, runs no program in soft interrupts that interrupt threads of its
 * host. Also removes ended processes that nobody reaps: they have no memory any more, and one pod could fill the table
 * with them. Does nothing unless the agent shares the host's PID namespace, whose PIDs the table has.
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

/** An empty cgroup is most likely gone; one that still exists is counted anew with its next process. */
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

/** A process whose first thread has ended while others run is in state Z too, but has several threads. */
function isUnreaped(pid: number): boolean {
  return readProcess(pid)?.state === 'Z' && threadsOf(pid).length < 2;
}
