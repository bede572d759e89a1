import { exitStatus } from '../../core/errors.ts';
import { describeError, stackOf } from '../../runtime/logging/describe-error.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import { exitAtOnce } from '../../runtime/native/exit.ts';
import { killChildren } from './supervise/index.ts';

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
