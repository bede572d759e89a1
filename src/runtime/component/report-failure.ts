import { exitStatus, SvcError } from '../../core/errors.ts';
import { describeError, stackOf } from '../logging/describe-error.ts';
import type { Logger } from '../logging/logger.ts';

/** Logs why a component ended and returns the exit status for it: an SvcError's own, 70 for breakage that is ours. */
export function reportFailure(log: Logger, event: string, error: unknown): number {
  if (error instanceof SvcError) {
    const details = error.details.length === 0 ? undefined : error.details;
    log.error(event, { ...describeError(error), details, nextStep: error.nextStep });
    return error.exitStatus;
  }
  log.error(event, { ...describeError(error), stack: stackOf(error) });
  return exitStatus.internal;
}
