import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { type Answer, encodeProcess, type ProcessKey } from '../../../core/protection/layouts.ts';
import { allProcesses } from '../../../runtime/native/process-table.ts';
import { gone, shareFull, tableFull, unsettled } from './cover-errors.ts';
import { readOfTask, threadsOf } from './proc-facts.ts';
import type { ProgramSet } from './program-set.ts';
import { sweepGone } from './sweep.ts';

const { E2BIG, EDQUOT, ESRCH } = constants.errno;

/** Going through a full table takes about a second. */
const sweepEveryMs = 2_000;
let sweptAt = Number.NEGATIVE_INFINITY;

/** A process that was covered, and whether somebody had opened it before. */
export interface Covered {
  readonly process: ProcessKey;
  readonly opened: boolean;
}

/**
 * Where the table is full, or its cgroup's share of it, entries of the dead go first.
 * @returns undefined for a process that is not there
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

const isFull = ({ error }: Answer) => error === -E2BIG || error === -EDQUOT;

/** @returns whether it was tried */
function makeRoom(set: ProgramSet): boolean {
  if (performance.now() - sweptAt < sweepEveryMs) return false;
  sweepGone(set);
  sweptAt = performance.now();
  return true;
}

/** Two do, and a few more where processes end meanwhile. */
const mostLooks = 8;

/**
 * Covers the descendants that a covered process has. Who is covered hands it on to whom it forks, so that only those
 * are missed whose parents fork or end before their turn has come: all are looked at until a look brings nobody new.
 */
export class DescendantWalk {
  /** By PID; the process itself is among them. */
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
      if (this.#looks === mostLooks) throw unsettled(this.#root, 'there are always new descendants');
      this.#isSettled = true;
      yield* this.#look();
      this.#looks += 1;
    } while (!this.#isSettled);
  }

  *#look(): Generator<void, void> {
    const childrenOf = lookForChildren();
    const family = new Set([this.#root]);
    // those that are added meanwhile are visited, too
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

  /** What was read of a PID that another process has been given by now is not believed. */
  #isStill(pid: number): boolean {
    const { error, process } = this.#set.ask('inspect', pid);
    if (error === 0 && process.start === this.covered.get(pid)?.process.start) return true;
    if (pid === this.#root) throw gone(pid);
    // its children have another parent now, who may have had his turn
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
