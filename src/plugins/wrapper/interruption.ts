import { constants } from 'node:os';
import { exitStatus } from '../../runtime/errors.ts';
import { describeError, type Logger, stackOf } from '../../runtime/logging/logger.ts';
import { exitAtOnce } from '../../runtime/native/own-process.ts';
import { ignoreSignal, signalNumber, unblockSignal } from '../../runtime/native/processes.ts';

/** These end the wrapper while no application runs that they could be forwarded to. */
export const endingSignals: ReadonlySet<string> = new Set(['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGHUP']);

/**
 * Signals that svc-init forwards to the application: all that Node can listen to, except for faults of the wrapper
 * itself (SEGV, BUS, FPE, ILL, SYS, TRAP), limits that the wrapper itself has reached (XCPU, XFSZ), PIPE, which the
 * wrapper's own writes can cause, and CHLD.
 */
export const forwardedSignals = [
  'SIGHUP',
  'SIGINT',
  'SIGQUIT',
  'SIGABRT',
  'SIGUSR1',
  'SIGUSR2',
  'SIGALRM',
  'SIGTERM',
  'SIGSTKFLT',
  'SIGCONT',
  'SIGTSTP',
  'SIGTTIN',
  'SIGTTOU',
  'SIGURG',
  'SIGVTALRM',
  'SIGPROF',
  'SIGWINCH',
  'SIGIO',
  'SIGPWR',
] as const satisfies readonly NodeJS.Signals[];

/** A limit that the wrapper itself reaches should fail the call, not end the process. */
const limitSignals = ['SIGXCPU', 'SIGXFSZ'] as const satisfies readonly NodeJS.Signals[];

const terminalAccessSignals = ['SIGTTIN', 'SIGTTOU'] as const satisfies readonly NodeJS.Signals[];

/** Otherwise a log line written from the background would stop this process (`stty tostop`). */
export function ignoreTerminalAccess(): ReadonlySet<string> {
  for (const signal of terminalAccessSignals) ignoreSignal(constants.signals[signal]);
  return new Set(terminalAccessSignals);
}

/**
 * Catches signals from now on, until the application runs. Call early: signals before this call are not caught.
 * @param onEnd called for SIGTERM, SIGINT, SIGQUIT and SIGHUP; other signals are ignored
 */
export function catchSignals(onEnd: (signal: string) => void): void {
  const ignored = ignoreTerminalAccess();
  for (const signal of forwardedSignals)
    if (!ignored.has(signal)) process.on(signal, () => endingSignals.has(signal) && onEnd(signal));
  for (const signal of limitSignals) process.on(signal, () => undefined);
  // blocked by Node's --disable-sigusr1, with which the wrapper's folder starts
  unblockSignal(constants.signals.SIGUSR1);
}

/** A signal that ends the wrapper while no application runs. */
export interface Interruption {
  /** Aborted by an interrupting signal. */
  readonly signal: AbortSignal;
  /** 128 + the signal's number; undefined without an interruption. */
  readonly status: number | undefined;
}

const signalBase = 128;

export function watchInterruption(): Interruption {
  const controller = new AbortController();
  let status: number | undefined;
  catchSignals((name) => {
    status ??= signalBase + signalNumber(name);
    controller.abort();
  });
  return {
    signal: controller.signal,
    get status() {
      return status;
    },
  };
}

/**
 * After an unhandled exception the wrapper's state is undefined: it logs `crashed` and exits with 70. svc-init then ends
 * an application in order.
 */
export function watchCrash(log: () => Logger): void {
  process.on('uncaughtException', (error, origin) => {
    log().error('crashed', { origin, ...describeError(error), stack: stackOf(error) });
    exitAtOnce(exitStatus.internal);
  });
}
