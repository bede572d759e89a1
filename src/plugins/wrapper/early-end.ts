import { exitStatus } from '../../core/errors.ts';
import { describeError, type Logger, stackOf } from '../../runtime/logging/logger.ts';
import { exitAtOnce } from '../../runtime/native/own-process.ts';
import { signalNumber } from '../../runtime/native/processes.ts';
import { catchSignals, killChildren, type SignalPost } from './supervise/index.ts';

/** Sees to it that an exception that nobody handled leaves no application behind without its wrapper. */
export interface CrashWatch {
  /** What ends the application in order; undefined while there is none. */
  endBy(end: (() => Promise<unknown>) | undefined): void;
  /** The status to exit with, which is 70 after a crash whatever became of the application. */
  status(status: number): number;
}

/**
 * After an exception that nobody handled nothing can be said of the wrapper's state: it logs `crashed`, ends the
 * application as at SIGTERM, and exits with 70. Another one meanwhile kills what is left.
 */
export function watchCrash(log: () => Logger): CrashWatch {
  let end: (() => Promise<unknown>) | undefined;
  let crashed = false;
  process.on('uncaughtException', (error, origin) => {
    log().error('crashed', { origin, ...describeError(error), stack: stackOf(error) });
    if (end === undefined) return exitAtOnce(exitStatus.internal);
    if (crashed) return killAndExit();
    crashed = true;
    void end().then(killAndExit, killAndExit);
  });
  return {
    endBy(next) {
      end = next;
    },
    status: (status) => (crashed ? exitStatus.internal : status),
  };
}

function killAndExit(): never {
  killChildren();
  return exitAtOnce(exitStatus.internal);
}

/** A signal that ends the wrapper while no application runs. */
export interface Interruption {
  readonly signals: SignalPost;
  /** Aborted by that signal. */
  readonly signal: AbortSignal;
  /** 128 + the signal's number; undefined while there was none. */
  readonly status: number | undefined;
}

const signalBase = 128;

/** Catches signals from now on. */
export function watchInterruption(): Interruption {
  const controller = new AbortController();
  let status: number | undefined;
  const signals = catchSignals((name) => {
    status ??= signalBase + signalNumber(name);
    controller.abort();
  });
  return {
    signals,
    signal: controller.signal,
    get status() {
      return status;
    },
  };
}
