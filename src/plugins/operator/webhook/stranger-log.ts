import type { Logger } from '../../../runtime/logging/logger.ts';

const everyMs = 60_000;

/** Tells of callers that have no certificate of an API server: a line a minute, however many there are. */
export function createStrangerLog(log: Logger, now: () => number = () => performance.now()) {
  let next = Number.NEGATIVE_INFINITY;
  let leftOut = 0;
  return (address: string | undefined, reason: string): void => {
    if (now() < next) {
      leftOut += 1;
      return;
    }
    log.warn('webhook.stranger', { address, reason, ...(leftOut > 0 && { leftOut }) });
    next = now() + everyMs;
    leftOut = 0;
  };
}
