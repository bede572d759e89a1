import { exitStatus } from '../../core/errors.ts';
import { describeError, stackOf } from '../logging/describe-error.ts';
import type { Logger } from '../logging/logger.ts';

/**
 * Ends the process with status 70 on an exception or rejection that nobody handled:
 * after it nothing can be said of the state. Returns the function that stops watching.
 */
export function endOnCrash(log: () => Logger): () => void {
  const crash = (error: unknown, origin: string) => {
    log().error('crashed', { origin, ...describeError(error), stack: stackOf(error) });
    process.exit(exitStatus.internal);
  };
  process.on('uncaughtException', crash);
  return () => void process.off('uncaughtException', crash);
}

/** A reader of the output that went away must not end a service. */
export function surviveLostOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
}
