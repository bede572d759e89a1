import { readdirSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { callInt, NativeError, tryInt, tryLong } from './libc.ts';
import { type Scratch, withScratch, withString } from './memory.ts';

/** What became of a child; `signal` such as `SIGTERM`. */
export type Change =
  | { readonly pid: number; readonly kind: 'exited'; readonly code: number }
  | { readonly pid: number; readonly kind: 'killed' | 'stopped'; readonly signal: string }
  | { readonly pid: number; readonly kind: 'continued' };

const wnohang = 1;
const wuntraced = 2;
const wcontinued = 8;
const anyChild = -1;

/**
 * The next change of any child, which it reaps if it has ended; never waits.
 * @returns `none` when no child has changed, `childless` when there is no child
 */
export function waitAny(): Change | 'none' | 'childless' {
  return withScratch(4, ({ address, bytes }) => {
    try {
      const pid = tryInt('waitpid', anyChild, address, wnohang | wuntraced | wcontinued);
      return pid === 0 ? 'none' : decodeStatus(pid, bytes.readInt32LE());
    } catch (error) {
      if (error instanceof NativeError && error.errnoName === 'ECHILD') return 'childless';
      throw error;
    }
  });
}

/** Waits until a child has ended, and nothing else happens meanwhile. @returns 0 to 255; undefined when a signal has ended it */
export function waitFor(pid: number): number | undefined {
  return withScratch(4, ({ address, bytes }) => {
    tryInt('waitpid', pid, address, 0);
    const change = decodeStatus(pid, bytes.readInt32LE());
    return change.kind === 'exited' ? change.code : undefined;
  });
}

/** The wait status as the kernel lays it out. */
export function decodeStatus(pid: number, status: number): Change {
  const low = status & 0x7f;
  const high = (status >> 8) & 0xff;
  if (status === 0xffff) return { pid, kind: 'continued' };
  if ((status & 0xff) === 0x7f) return { pid, kind: 'stopped', signal: signalName(high) };
  if (low === 0) return { pid, kind: 'exited', code: high };
  return { pid, kind: 'killed', signal: signalName(low) };
}

/** The number of a signal; those without a name, such as real-time ones, are called `SIG` and the number. */
export function signalNumber(name: string): number {
  return constants.signals[name as NodeJS.Signals] ?? Number(name.slice(3));
}

const preferred = new Map(
  Object.entries(constants.signals)
    .reverse()
    .map(([name, number]) => [number as number, name]),
);

function signalName(number: number): string {
  return preferred.get(number) ?? `SIG${number}`;
}

/** `struct sigaction` of glibc and musl on 64-bit machines: handler, mask (128), flags, restorer. */
const actionLength = 152;
const maskLength = 128;
const setMask = 2;
const block = 0;
const unblock = 1;
const firstRealTimeSignal = 32;
const lastSignal = 64;
const byDefault = 0n;
const ignored = 1n;

/** Sends a signal to a process, or to a whole group by its negated id. @throws NativeError such as ESRCH */
export function sendSignal(pid: number, signal: number): void {
  tryInt('kill', pid, signal);
}

/** The process ignores the signal from now on, whoever else listens to it. */
export function ignoreSignal(signal: number): void {
  setHandler(signal, ignored);
}

/** Node cannot listen to them, and each of them would end the process. The C library keeps some for itself. */
export function ignoreRealTimeSignals(): void {
  for (let signal = firstRealTimeSignal; signal <= lastSignal; signal++) ignoreSignal(signal);
}

/** Runs something while the signal has its default action, which SIGKILL and SIGSTOP always have; then as before. */
export function withDefaultAction<T>(signal: number, use: () => T): T {
  const restoreAction = replaceAction(signal, byDefault);
  try {
    return use();
  } finally {
    restoreAction();
  }
}

/** @returns puts the former action back; neither does anything to SIGKILL and SIGSTOP */
function replaceAction(signal: number, handler: bigint): () => void {
  const before = withScratch(actionLength, (previous) => {
    readAction(signal, previous);
    return Buffer.from(previous.bytes);
  });
  setHandler(signal, handler);
  return () => setAction(signal, before);
}

/**
 * Has each of the signals end the process at once, whichever of its threads gets it. Process 1, which no default action
 * ends, exits with the signal's number.
 * @returns puts the former actions back
 */
export function endBySignals(signals: readonly number[]): () => void {
  const handler = process.pid === 1 ? exitFunction() : byDefault;
  const restores = signals.map((signal) => replaceAction(signal, handler));
  return () => {
    for (const restoreAction of restores) restoreAction();
  };
}

const exitFunction = (): bigint => withString('_exit', (name) => tryLong('dlsym', 0n, name));

/** Forgets what was sent and not yet delivered. */
export function dropPending(signal: number): void {
  replaceAction(signal, ignored)();
}

/** Runs something while this thread holds the signal back. */
export const withSignalBlocked = <T>(signal: number, use: () => T): T =>
  withBlocked((mask) => addTo(mask, signal), use);

/** Runs something while this thread holds every signal back: a program that is executed has them blocked, and pending. */
export const withSignalsBlocked = <T>(use: () => T): T => withBlocked((mask) => mask.fill(0xff), use);

function withBlocked<T>(fill: (mask: Buffer) => void, use: () => T): T {
  return withScratch(2 * maskLength, ({ address, bytes }) => {
    const previous = address + BigInt(maskLength);
    fill(bytes.subarray(0, maskLength));
    tryInt('sigprocmask', block, address, previous);
    try {
      return use();
    } finally {
      tryInt('sigprocmask', setMask, previous, 0n);
    }
  });
}

function addTo(mask: Buffer, signal: number): void {
  const bit = signal - 1;
  mask[bit >> 3] = 1 << (bit & 7);
}

/** Lets a signal in again that was blocked, in this thread. */
export function unblockSignal(signal: number): void {
  withScratch(maskLength, ({ address, bytes }) => {
    addTo(bytes, signal);
    tryInt('sigprocmask', unblock, address, 0n);
  });
}

/**
 * Gives every signal its default action and blocks none, as a program expects it that is executed next.
 * @returns puts the actions back
 */
export function resetSignals(): () => void {
  const before = new Map<number, Buffer>();
  withScratch(actionLength, (action) => {
    for (let signal = 1; signal <= lastSignal; signal++) {
      if (!readAction(signal, action) || action.bytes.readBigUInt64LE() === byDefault) continue;
      before.set(signal, Buffer.from(action.bytes));
      setHandler(signal, byDefault);
    }
  });
  unblockAll();
  return () => {
    for (const [signal, action] of before) setAction(signal, action);
  };
}

function unblockAll(): void {
  withScratch(maskLength, ({ address }) => tryInt('sigprocmask', setMask, address, 0n));
}

/** False for signals that have no action to read: those which the C library keeps for itself. */
function readAction(signal: number, into: Scratch): boolean {
  return callInt('sigaction', signal, 0n, into.address) === 0;
}

function setHandler(signal: number, handler: bigint): void {
  const action = Buffer.alloc(actionLength);
  action.writeBigUInt64LE(handler);
  setAction(signal, action);
}

/** Fails for SIGKILL and SIGSTOP only, which nobody can set. */
function setAction(signal: number, action: Buffer): void {
  withScratch(actionLength, ({ address, bytes }) => {
    bytes.set(action);
    callInt('sigaction', signal, address, 0n);
  });
}

/** The process group in the terminal's foreground; undefined where the descriptor is no controlling terminal of ours. */
export function foregroundGroup(descriptor: number): number | undefined {
  const group = callInt('tcgetpgrp', descriptor);
  return group === -1 ? undefined : group;
}

/**
 * Gives the terminal to a process group of our session, also from the background.
 * @throws NativeError, such as EPERM for a group that is none or ENOTTY for a terminal that is gone
 */
export function setForegroundGroup(descriptor: number, group: number): void {
  withSignalBlocked(constants.signals.SIGTTOU, () => tryInt('tcsetpgrp', descriptor, group));
}

/** The process group of a process, 0 for our own. @throws NativeError ESRCH */
export function processGroup(pid = 0): number {
  return tryInt('getpgid', pid);
}

/** One line of the process table. */
export interface ProcessEntry {
  readonly pid: number;
  /** One letter, such as `R`, `S`, `T` (stopped), `Z` (ended, not reaped). */
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** The controlling terminal's device number, 0 without one. */
  readonly terminal: number;
}

/** Undefined for a process that is not there (any more), or without /proc. */
export function readProcess(pid: number | 'self'): ProcessEntry | undefined {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return undefined;
  }
}

/** Every process that can be seen. */
export function allProcesses(): ProcessEntry[] {
  return processIds()
    .map(readProcess)
    .filter((entry) => entry !== undefined);
}

/** PIDs of the processes that /proc shows. */
export function processIds(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** Parses /proc/PID/stat. */
export function parseStat(line: string): ProcessEntry {
  const [state = '', ...numbers] = statFields(line);
  const [parent = 0, group = 0, session = 0, terminal = 0] = numbers.slice(0, 4).map(Number);
  return { pid: Number.parseInt(line, 10), state, parent, group, session, terminal };
}

/** The fields of /proc/PID/stat from the state on: the program's name before it may hold anything. */
export function statFields(line: string): string[] {
  return line.slice(line.lastIndexOf(')') + 2).split(' ');
}

/**
 * The children of this process, of all its threads, ended ones included; undefined where /proc does not say,
 * or speaks of another process-id namespace.
 */
export function directChildren(): number[] | undefined {
  const self = readProcess('self');
  if (self?.pid !== process.pid) return undefined;
  return listedChildren() ?? scannedChildren();
}

/** From a file that kernels without CONFIG_PROC_CHILDREN lack. */
function listedChildren(): number[] | undefined {
  try {
    const threads = readdirSync('/proc/self/task');
    const lists = threads.map((thread) => readFileSync(`/proc/self/task/${thread}/children`, 'latin1'));
    return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number));
  } catch {
    return undefined;
  }
}

function scannedChildren(): number[] {
  return allProcesses()
    .filter(({ parent }) => parent === process.pid)
    .map(({ pid }) => pid);
}
