import { readdirSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { callInt, NativeError, tryInt, tryLong } from './libc.ts';
import { type Scratch, withScratch, withString } from './memory.ts';

/** A state change of a child; `signal` is a name such as `SIGTERM`. */
export type Change =
  | { readonly pid: number; readonly kind: 'exited'; readonly code: number }
  | { readonly pid: number; readonly kind: 'killed' | 'stopped'; readonly signal: string }
  | { readonly pid: number; readonly kind: 'continued' };

const wnohang = 1;
const wuntraced = 2;
const wcontinued = 8;
const anyChild = -1;

/**
 * Returns the next state change of any child without waiting, and reaps the child if it has ended.
 * @returns `none` if no child has changed, `childless` without children
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

/** Blocks this process until a child has ended. @returns its exit status, 0 to 255; undefined if a signal ended it */
export function waitFor(pid: number): number | undefined {
  return withScratch(4, ({ address, bytes }) => {
    tryInt('waitpid', pid, address, 0);
    const change = decodeStatus(pid, bytes.readInt32LE());
    return change.kind === 'exited' ? change.code : undefined;
  });
}

/** Decodes a wait status. */
export function decodeStatus(pid: number, status: number): Change {
  const low = status & 0x7f;
  const high = (status >> 8) & 0xff;
  if (status === 0xffff) return { pid, kind: 'continued' };
  if ((status & 0xff) === 0x7f) return { pid, kind: 'stopped', signal: signalName(high) };
  if (low === 0) return { pid, kind: 'exited', code: high };
  return { pid, kind: 'killed', signal: signalName(low) };
}

/** The number of a signal; nameless ones, such as real-time signals, are called `SIG` plus the number. */
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

/** Sends a signal to a process, or to a group by its negated id. @throws NativeError such as ESRCH */
export function sendSignal(pid: number, signal: number): void {
  tryInt('kill', pid, signal);
}

/** Ignores a signal from now on, even if there are listeners for it. */
export function ignoreSignal(signal: number): void {
  setHandler(signal, ignored);
}

/**
 * Node cannot listen to real-time signals, and each of them would end the process. Some are reserved for the C library.
 */
export function ignoreRealTimeSignals(): void {
  for (let signal = firstRealTimeSignal; signal <= lastSignal; signal++) ignoreSignal(signal);
}

/**
 * Runs `use` while the signal has its default action, which SIGKILL and SIGSTOP always have; then restores the former
 * action.
 */
export function withDefaultAction<T>(signal: number, use: () => T): T {
  const restoreAction = replaceAction(signal, byDefault);
  try {
    return use();
  } finally {
    restoreAction();
  }
}

/** @returns a function that restores the former action; no effect on SIGKILL and SIGSTOP */
function replaceAction(signal: number, handler: bigint): () => void {
  const before = withScratch(actionLength, (previous) => {
    readAction(signal, previous);
    return Buffer.from(previous.bytes);
  });
  setHandler(signal, handler);
  return () => setAction(signal, before);
}

/**
 * Makes each of the signals end the process at once, whichever thread receives it. Process 1, which no default action
 * ends, exits with the signal's number.
 * @returns a function that restores the former actions
 */
export function endBySignals(signals: readonly number[]): () => void {
  const handler = process.pid === 1 ? exitFunction() : byDefault;
  const restores = signals.map((signal) => replaceAction(signal, handler));
  return () => {
    for (const restoreAction of restores) restoreAction();
  };
}

const exitFunction = (): bigint => withString('_exit', (name) => tryLong('dlsym', 0n, name));

/** Discards signals that were sent but not delivered yet. */
export function dropPending(signal: number): void {
  replaceAction(signal, ignored)();
}

/** Runs `use` while the signal is blocked in this thread. */
export const withSignalBlocked = <T>(signal: number, use: () => T): T =>
  withBlocked((mask) => addTo(mask, signal), use);

/**
 * Runs `use` while all signals are blocked in this thread; an executed program inherits blocked and pending signals.
 */
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

/** Unblocks a signal in this thread. */
export function unblockSignal(signal: number): void {
  withScratch(maskLength, ({ address, bytes }) => {
    addTo(bytes, signal);
    tryInt('sigprocmask', unblock, address, 0n);
  });
}

/**
 * Resets all signals to their default actions and blocks none, as a program expects that is executed next.
 * @returns a function that restores the actions
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

/** False for signals without a readable action, which are reserved for the C library. */
function readAction(signal: number, into: Scratch): boolean {
  return callInt('sigaction', signal, 0n, into.address) === 0;
}

function setHandler(signal: number, handler: bigint): void {
  const action = Buffer.alloc(actionLength);
  action.writeBigUInt64LE(handler);
  setAction(signal, action);
}

/** Fails only for SIGKILL and SIGSTOP, whose actions cannot be set. */
function setAction(signal: number, action: Buffer): void {
  withScratch(actionLength, ({ address, bytes }) => {
    bytes.set(action);
    callInt('sigaction', signal, address, 0n);
  });
}

/** The terminal's foreground process group; undefined unless the descriptor is our controlling terminal. */
export function foregroundGroup(descriptor: number): number | undefined {
  const group = callInt('tcgetpgrp', descriptor);
  return group === -1 ? undefined : group;
}

/**
 * Gives the terminal to a process group of our session, even from the background.
 * @throws NativeError, such as EPERM if there is no such group, or ENOTTY if the terminal is gone
 */
export function setForegroundGroup(descriptor: number, group: number): void {
  withSignalBlocked(constants.signals.SIGTTOU, () => tryInt('tcsetpgrp', descriptor, group));
}

/** The process group of a process; 0 is our own. @throws NativeError ESRCH */
export function processGroup(pid = 0): number {
  return tryInt('getpgid', pid);
}

/** An entry of the process table. */
export interface ProcessEntry {
  readonly pid: number;
  /** A letter such as `R`, `S`, `T` (stopped), `Z` (ended, not reaped). */
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** The controlling terminal's device number, 0 without one. */
  readonly terminal: number;
}

/** Undefined for a process that does not exist (any more), or without /proc. */
export function readProcess(pid: number | 'self'): ProcessEntry | undefined {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return undefined;
  }
}

/** All visible processes. */
export function allProcesses(): ProcessEntry[] {
  return processIds()
    .map(readProcess)
    .filter((entry) => entry !== undefined);
}

/** PIDs in /proc. */
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

/** Fields of /proc/PID/stat from the state on; the program name before it may contain anything. */
export function statFields(line: string): string[] {
  return line.slice(line.lastIndexOf(')') + 2).split(' ');
}

/**
 * Children of this process, of all its threads, including ended ones; undefined if /proc does not tell, or belongs to
 * another PID namespace.
 */
export function directChildren(): number[] | undefined {
  const self = readProcess('self');
  if (self?.pid !== process.pid) return undefined;
  return listedChildren() ?? scannedChildren();
}

/** Reads a file that kernels without CONFIG_PROC_CHILDREN lack. */
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
