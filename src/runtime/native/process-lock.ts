import { readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { exitStatus, SvcError } from '../errors.ts';
import { callInt, NativeError, tryInt } from './libc.ts';
import { hasCapability, lockedAddressSpace, memlockLimit } from './own-process.ts';

export interface LockReport {
  /** `all`: everything except V8's machine code, now and in the future; `partial`: as much as the limit permits. */
  readonly mode: 'all' | 'partial' | 'none';
  /** Why the mode is not `all`. */
  readonly reason?: string;
}

export interface LockOptions {
  /** Refuse any mode but `all`. */
  required: boolean;
  /** Bytes of the limit to leave for secret regions in mode `partial`. */
  reserve?: number;
}

const futureOnFault = 2 | 4;
const defaultReserve = 1 << 20;

let relockAs: () => unknown = () => undefined;

/**
 * Keeps the process's memory out of swap. Call it before memory contains a secret. In mode `all` there is no
 * WebAssembly from then on, hence no `fetch`, and there must be no worker threads.
 * @throws SvcError MEMORY_LOCK_REFUSED (exit 71) if `required` and refused
 */
export function lockProcessMemory({ required, reserve }: LockOptions): LockReport {
  const reason = lockAll();
  if (reason === undefined) return report('all');
  if (required) throw refused(reason);
  const { soft } = memlockLimit();
  const lockMore = partialLock(soft, Math.min(reserve ?? defaultReserve, soft / 2));
  relockAs = lockMore;
  forbidReducingMemory();
  return report(lockMore() ? 'partial' : 'none', reason);
}

/** Locks memory that was mapped since the last call; no effect before `lockProcessMemory`. */
export function relock(): void {
  relockAs();
}

/** Removes all locks of the process, except those of memfd_secret memory. */
export function unlockAll(): void {
  relockAs = () => undefined;
  callInt('munlockall');
}

/** @returns why locking was refused; undefined if the memory is locked */
function lockAll(): string | undefined {
  const missing = missingRight();
  if (missing !== undefined) return missing;
  const locked = new Set<string>();
  try {
    lockCurrent(locked);
    tryInt('mlockall', futureOnFault);
    lockCurrent(locked);
  } catch (error) {
    if (!(error instanceof NativeError)) throw error;
    callInt('munlockall');
    return `the system refused it (${error.errnoName}) despite the capability IPC_LOCK, which has no effect in a user namespace; the memory-lock limit is ${inBytes(memlockLimit().soft)}`;
  }
  relockAs = unlockCode;
  forbidReducingMemory();
  forbidWebAssembly();
  return undefined;
}

/**
 * Locks present memory range by range, except ranges already in `locked`. `mlockall` would also walk pages of program
 * files, which are never swapped out; at startup that would take 6 ms.
 */
function lockCurrent(locked: Set<string>): void {
  for (const range of swappable(ownMemoryMap())) {
    const key = `${range.start}-${range.end}`;
    if (!locked.has(key) && lockRange(range)) locked.add(key);
  }
}

/**
 * False for a range that another thread unmapped or changed meanwhile, which fails with the same error as the limit.
 */
function lockRange({ start, end }: MappedRange): boolean {
  try {
    lockOnFault({ start, end });
    return true;
  } catch (error) {
    if (ownMemoryMap().some((range) => range.start === start && range.end === end)) throw error;
    return false;
  }
}

/**
 * Memory-reducing collections, which V8 starts after 8 s of idle time, return parts of pages to the kernel by calls
 * that fail on locked memory: Node 22 then ends the process. They begin with incremental marking. Deferred by a second,
 * because Node's own modules load without their code cache once a flag has changed.
 */
function forbidReducingMemory(): void {
  setTimeout(() => setFlagsFromString('--no-incremental-marking'), 1000).unref();
}

/** V8 returns memory of WebAssembly code to the kernel, which ends the process if its pages are locked. */
function forbidWebAssembly(): void {
  Reflect.deleteProperty(globalThis, 'WebAssembly');
}

function missingRight(): string | undefined {
  const { soft } = memlockLimit();
  if (soft === Number.POSITIVE_INFINITY || hasCapability('ipc_lock')) return undefined;
  return `the capability CAP_IPC_LOCK is not effective and the memory-lock limit is ${inBytes(soft)}`;
}

function unlockCode(): void {
  for (const { start, end } of codeRuns(ownMemoryMap()))
    callInt('munlock', BigInt(start), BigInt(end - start));
}

function report(mode: LockReport['mode'], reason?: string): LockReport {
  return { mode, ...(reason === undefined ? {} : { reason }) };
}

function inBytes(limit: number): string {
  return limit === Number.POSITIVE_INFINITY ? 'unlimited' : `${limit} bytes`;
}

function refused(reason: string): SvcError {
  return new SvcError('MEMORY_LOCK_REFUSED', `Cannot lock the process's memory: ${reason}`, {
    nextStep:
      'Add the capability IPC_LOCK to the container (the operator does; it is effective for root only), set LimitMEMLOCK=infinity in the service unit, or run without the lock with SVC_REQUIRE_MLOCK=false.',
    exitStatus: exitStatus.system,
  });
}

const maxBytes = 4 << 20;

/**
 * Locks anonymous writable mappings of up to 4 MB as they come into use, smallest first. The memory-lock limit counts
 * address space; `reserve` bytes of it stay free for secret regions.
 * @returns a function that locks what fits and is new since its last call, and returns whether it locked anything
 */
function partialLock(limit: number, reserve: number): () => boolean {
  const held = new Set<string>();
  return () => {
    let room = limit - reserve - lockedAddressSpace();
    for (const range of candidates(ownMemoryMap())) {
      const size = range.end - range.start;
      const key = `${range.start}-${range.end}`;
      if (held.has(key) || size > room || !lock(range)) continue;
      held.add(key);
      room -= size;
    }
    return held.size > 0;
  };
}

function candidates(ranges: readonly MappedRange[]): MappedRange[] {
  return outsideCode(ranges)
    .filter((range) => isWritableMemory(range) && range.end - range.start <= maxBytes)
    .sort((a, b) => a.end - a.start - (b.end - b.start));
}

function isWritableMemory({ permissions, anonymous, name }: MappedRange): boolean {
  return /^.w.p$/.test(permissions) && (anonymous || name === '[heap]' || name === '[stack]');
}

function lock(range: MappedRange): boolean {
  try {
    lockOnFault(range);
    return true;
  } catch (error) {
    if (error instanceof NativeError) return false;
    throw error;
  }
}

const onFault = 1;

/** Locks a range page by page as it comes into use. @throws NativeError */
function lockOnFault({ start, end }: Pick<MappedRange, 'start' | 'end'>): void {
  tryInt('mlock2', BigInt(start), BigInt(end - start), onFault);
}

/** One line of /proc/self/maps. Addresses are below 2^53. */
export interface MappedRange {
  start: number;
  end: number;
  /** Such as `rw-p`. */
  permissions: string;
  anonymous: boolean;
  /** A file, `[heap]`, `[stack]`, or empty. */
  name: string;
}

const line = /^([0-9a-f]+)-([0-9a-f]+) (\S{4}) \S+ \S+ (\d+) *(.*)$/;

export function ownMemoryMap(): MappedRange[] {
  return parseMemoryMap(readFileSync('/proc/self/maps', 'latin1'));
}

export function parseMemoryMap(text: string): MappedRange[] {
  const ranges: MappedRange[] = [];
  for (const each of text.split('\n')) {
    const range = parseRange(each);
    if (range !== undefined) ranges.push(range);
  }
  return ranges;
}

/** @returns undefined for other lines, such as the details in /proc/self/smaps */
export function parseRange(text: string): MappedRange | undefined {
  const found = line.exec(text);
  if (found === null) return undefined;
  const [, start = '', end = '', permissions = '', inode, name = ''] = found;
  return {
    start: Number.parseInt(start, 16),
    end: Number.parseInt(end, 16),
    permissions,
    anonymous: inode === '0' && (name === '' || name.startsWith('[anon:')),
    name,
  };
}

/**
 * Adjacent anonymous ranges of which at least one is executable: V8's code. V8 returns pages of it to the kernel by
 * calls that fail on locked memory, which V8 treats as fatal.
 */
export function codeRuns(ranges: readonly MappedRange[]): { start: number; end: number }[] {
  return anonymousRuns(ranges)
    .filter((run) => run.some(({ permissions }) => permissions[2] === 'x'))
    .map((run) => ({ start: run[0]?.start ?? 0, end: run.at(-1)?.end ?? 0 }));
}

/**
 * Ranges that the kernel may swap out, now or after their first use, except V8's code: everything but read-only file
 * mappings.
 */
export function swappable(ranges: readonly MappedRange[]): MappedRange[] {
  return outsideCode(ranges).filter(
    ({ permissions, anonymous, name }) => isOwn(permissions) && (anonymous || isData(permissions, name)),
  );
}

/**
 * Ranges outside V8's code.
 * @param ranges the whole map, because adjacent ranges determine what is code
 */
export function outsideCode<T extends MappedRange>(ranges: readonly T[]): T[] {
  const code = codeRuns(ranges);
  return ranges.filter(({ start, end }) => !code.some((run) => start >= run.start && end <= run.end));
}

const isOwn = (permissions: string): boolean => permissions.endsWith('p');

const isData = (permissions: string, name: string): boolean =>
  permissions[1] === 'w' || name === '[heap]' || name.startsWith('[stack');

function anonymousRuns(ranges: readonly MappedRange[]): MappedRange[][] {
  const runs: MappedRange[][] = [];
  let previous: MappedRange | undefined;
  for (const [index, range] of ranges.entries()) {
    const joins = range.anonymous && !isOfArena(ranges, index);
    if (joins && previous?.end === range.start) runs.at(-1)?.push(range);
    else if (joins) runs.push([range]);
    previous = joins ? range : undefined;
  }
  return runs;
}

/** The reserved rest of an arena is excluded too, because it becomes writable as the arena grows. */
function isOfArena(ranges: readonly MappedRange[], index: number): boolean {
  const [before, range, after] = [ranges[index - 1], ranges[index], ranges[index + 1]];
  return [before && isMallocArena(before, range), range && isMallocArena(range, after)].includes(true);
}

const arenaSize = 64 << 20;

/**
 * A glibc arena, from which `malloc` serves threads: writable from a multiple of 64 MB, and reserved without access up
 * to the next one.
 * @param next the range after it
 */
export function isMallocArena(range: MappedRange, next: MappedRange | undefined): boolean {
  const { start, end, permissions, anonymous } = range;
  if (!anonymous || permissions !== 'rw-p' || start % arenaSize !== 0) return false;
  return next?.start === end && next.end === start + arenaSize && next.permissions === '---p';
}
