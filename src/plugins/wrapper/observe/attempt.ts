import { describeError } from '../../../runtime/logging/describe-error.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';

/** Does what the application can run without: a failure is logged and goes no further. */
export function attempt(log: Logger, event: string, work: () => unknown): void {
  try {
    work();
  } catch (error) {
    log.warn(event, { ...describeError(error) });
  }
}
