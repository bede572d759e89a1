import { type Periodic, type PeriodicOptions, sleep, startPeriodic } from './wait.ts';

export interface RetryOptions extends BackoffOptions {
  /** False for what a further attempt cannot fix. */
  readonly isRetryable: (error: unknown) => boolean;
  /** Attempts in all, the first included. */
  readonly maxAttempts?: number;
  /** No attempt begins later than this after the first one. */
  readonly maxElapsedMs?: number;
  readonly signal?: AbortSignal;
  readonly onRetry?: (error: unknown, delayMs: number, attempt: number) => void;
}

/**
 * Calls `attempt` until it succeeds, with growing, jittered delays.
 * Rejects with the last error when the bounds are reached, and with the signal's reason when aborted.
 */
export async function retry<T>(attempt: (count: number) => Promise<T>, options: RetryOptions): Promise<T> {
  const backoff = createBackoff(options);
  const end = performance.now() + (options.maxElapsedMs ?? Number.POSITIVE_INFINITY);
  for (let count = 1; ; count++) {
    options.signal?.throwIfAborted();
    try {
      return await attempt(count);
    } catch (error) {
      options.signal?.throwIfAborted();
      const delayMs = backoff.next();
      if (!mayGoOn(error, count, delayMs, end, options)) throw error;
      options.onRetry?.(error, delayMs, count);
      await sleep(delayMs, options.signal);
    }
  }
}

function mayGoOn(
  error: unknown,
  count: number,
  delayMs: number,
  end: number,
  options: RetryOptions,
): boolean {
  if (count >= (options.maxAttempts ?? Number.POSITIVE_INFINITY)) return false;
  return performance.now() + delayMs <= end && options.isRetryable(error);
}

interface BackoffOptions {
  /** The most that the first delay takes, in milliseconds; each further one at most twice the one before. */
  readonly initialMs: number;
  /** No delay is longer. */
  readonly maxMs: number;
}

/** Growing, jittered delays. */
export interface Backoff {
  /** The next delay in milliseconds: between half of what it may be by now and all of it. */
  next(): number;
  /** Starts small again, after a success. */
  reset(): void;
}

export function createBackoff({ initialMs, maxMs }: BackoffOptions): Backoff {
  let ceilingMs = initialMs;
  return {
    next() {
      const delayMs = Math.min(ceilingMs, maxMs) * (0.5 + Math.random() / 2);
      ceilingMs = Math.min(ceilingMs * 2, maxMs);
      return delayMs;
    },
    reset() {
      ceilingMs = initialMs;
    },
  };
}

export interface RepeatedOptions extends Omit<PeriodicOptions, 'pass'> {
  readonly work: () => Promise<void>;
  /** Milliseconds until the next pass after one that succeeded. */
  readonly delayMs: () => number;
  /** Milliseconds until the next pass after one that failed. */
  readonly backoff: Backoff;
  /** Not called for a pass that failed because the signal was aborted. */
  readonly onFailure: (error: unknown, retryMs: number) => void;
}

/** Repeats work that may fail: a failure is reported and never ends the loop. */
export function startRepeated({ work, delayMs, backoff, onFailure, ...rest }: RepeatedOptions): Periodic {
  const pass = async () => {
    try {
      await work();
    } catch (error) {
      const retryMs = backoff.next();
      if (!rest.signal.aborted) onFailure(error, retryMs);
      return retryMs;
    }
    backoff.reset();
    return delayMs();
  };
  return startPeriodic({ pass, ...rest });
}
