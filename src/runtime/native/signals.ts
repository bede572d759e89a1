import { callInt, tryInt } from './libc.ts';
import { type Scratch, withScratch } from './scratch.ts';

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
  return withScratch(actionLength, (previous) => {
    readAction(signal, previous);
    setHandler(signal, byDefault);
    try {
      return use();
    } finally {
      callInt('sigaction', signal, previous.address, 0n);
    }
  });
}

/** Runs something while this thread holds the signal back. */
export function withSignalBlocked<T>(signal: number, use: () => T): T {
  return withScratch(2 * maskLength, ({ address, bytes }) => {
    const previous = address + BigInt(maskLength);
    const bit = signal - 1;
    bytes[bit >> 3] = 1 << (bit & 7);
    tryInt('sigprocmask', block, address, previous);
    try {
      return use();
    } finally {
      tryInt('sigprocmask', setMask, previous, 0n);
    }
  });
}

/** Lets a signal in again that was blocked, in this thread. */
export function unblockSignal(signal: number): void {
  withScratch(maskLength, ({ address, bytes }) => {
    const bit = signal - 1;
    bytes[bit >> 3] = 1 << (bit & 7);
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
    for (const [signal, action] of before) restore(signal, action);
  };
}

function unblockAll(): void {
  withScratch(maskLength, ({ address }) => tryInt('sigprocmask', setMask, address, 0n));
}

/** False for signals that have no action to read: those which the C library keeps for itself. */
function readAction(signal: number, into: Scratch): boolean {
  return callInt('sigaction', signal, 0n, into.address) === 0;
}

/** Fails for SIGKILL and SIGSTOP only, which nobody can set. */
function setHandler(signal: number, handler: bigint): void {
  withScratch(actionLength, ({ address, bytes }) => {
    bytes.writeBigUInt64LE(handler);
    callInt('sigaction', signal, address, 0n);
  });
}

function restore(signal: number, action: Buffer): void {
  withScratch(actionLength, ({ address, bytes }) => {
    bytes.set(action);
    tryInt('sigaction', signal, address, 0n);
  });
}
