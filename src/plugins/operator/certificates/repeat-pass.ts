import { createBackoff, type Periodic, startRepeated } from '../../../runtime/lifecycle/wait.ts';
import { describeError, type Logger } from '../../../runtime/logging/logger.ts';

export interface RepeatOptions {
  /** Names the passes in the log. */
  readonly event: string;
  /** About the time between two passes, in milliseconds. */
  readonly intervalMs: number;
  readonly pass: () => Promise<void>;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

const minPauseMs = 100;
const initialBackoffMs = 500;

/** Repeats a pass, the first one at once. A failed pass is logged and repeated with back-off. */
export function repeatPass({ event, intervalMs, pass, log, signal }: RepeatOptions): Periodic {
  return startRepeated({
    work: pass,
    delayMs: () => intervalMs * (0.8 + Math.random() * 0.4),
    backoff: createBackoff({ initialMs: initialBackoffMs, maxMs: intervalMs }),
    onFailure: (error, retryMs) =>
      log.warn(`${event}.failed`, { ...describeError(error), retryInMs: Math.round(retryMs) }),
    signal,
    minPauseMs,
  });
}
