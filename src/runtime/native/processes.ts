import { readdirSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { callInt, tryInt, tryLong } from './libc.ts';
import { type Scratch, withScratch, withString } from './memory.ts';

/** The number of a signal; nameless ones, such as real-time signals, are called `SIG` plus the number. */
export function signalNumber(name: string): number {
  return constants.signals[name as NodeJS.Signals] ?? Number(name.slice(3));
}

/** `struct sigaction` of glibc and musl on 64-bit machines: handler, mask (128), flags, restorer. */
const actionLength = 152;
const maskLength = 128;
const setMask = 2;
const block = 0;
const unblock = 1;
const lastSignal = 64;
const byDefault = 0n;
const ignored = 1n;

/** Ignores a signal from now on, even if there are listeners for it. */
export function ignoreSignal(signal: number): void {
  setHandler(signal, ignored);
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

/**
 * Runs `use` while all signals are blocked in this thread; an executed program inherits blocked and pending signals.
 */
export function withSignalsBlocked<T>(use: () => T): T {
  return withScratch(2 * maskLength, ({ address, bytes }) => {
    const previous = address + BigInt(maskLength);
    bytes.fill(0xff, 0, maskLength);
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

/** An entry of the process table. */
export interface ProcessEntry {
  readonly pid: number;
  /** A letter such as `R`, `S`, `T` (stopped), `Z` (ended, not reaped). */
  readonly state: string;
  readonly parent: number;
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
  const [state = '', parent = ''] = statFields(line);
  return { pid: Number.parseInt(line, 10), state, parent: Number(parent) };
}

/** Fields of /proc/PID/stat from the state on; the program name before it may contain anything. */
export function statFields(line: string): string[] {
  return line.slice(line.lastIndexOf(')') + 2).split(' ');
}
