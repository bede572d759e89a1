import { createBackoff } from '../../../runtime/lifecycle/retry.ts';
import { sleep } from '../../../runtime/lifecycle/wait.ts';
import { describeError, type Logger } from '../../../runtime/logging/logger.ts';

export interface PeriodicOptions {
  /** Names the rounds in the log. */
  readonly event: string;
  /** About the time between two rounds. */
  readonly intervalMs: number;
  readonly round: () => Promise<void>;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Work that is done again and again, and at once when there is a reason. */
export interface Periodic {
  /** The next round begins as soon as the one under way has ended. */
  wake(): void;
  readonly closed: Promise<void>;
}

/** Two rounds are never closer: a reason that repeats itself must not become a busy loop. */
const shortestPauseMs = 100;
const initialBackoffMs = 500;

/** A round that fails is logged, and repeated after a pause that grows. The first one begins at once. */
export function startPeriodic({ event, intervalMs, round, log, signal }: PeriodicOptions): Periodic {
  const backoff = createBackoff({ initialMs: initialBackoffMs, maxMs: intervalMs });
  let woken = new AbortController();

  const attempt = async (): Promise<number> => {
    try {
      await round();
      backoff.reset();
      return intervalMs * (0.8 + Math.random() * 0.4);
    } catch (error) {
      const delayMs = backoff.next();
      if (!signal.aborted)
        log.warn(`${event}.failed`, { ...describeError(error), retryInMs: Math.round(delayMs) });
      return delayMs;
    }
  };
  const run = async () => {
    while (!signal.aborted) {
      woken = new AbortController();
      const either = AbortSignal.any([signal, woken.signal]);
      const delayMs = await attempt();
      await sleep(Math.min(shortestPauseMs, delayMs), signal).catch(() => {});
      await sleep(delayMs, either).catch(() => {});
    }
  };
  return { wake: () => woken.abort(), closed: run() };
}
