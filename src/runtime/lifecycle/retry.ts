import {
  decorrelatedJitterGenerator,
  ExponentialBackoff,
  fullJitterGenerator,
  type IBackoff,
} from 'cockatiel';
import { sleep } from './wait.ts';

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
  /** About the first delay, in milliseconds. */
  readonly initialMs: number;
  /** No delay is longer. */
  readonly maxMs: number;
  /** `decorrelated` (default) spreads around a growing delay; `full` picks from zero to it. */
  readonly jitter?: 'decorrelated' | 'full';
}

/** Growing, jittered delays. */
export interface Backoff {
  /** The next delay in milliseconds. */
  next(): number;
  /** Starts small again, after a success. */
  reset(): void;
}

export function createBackoff({ initialMs, maxMs, jitter = 'decorrelated' }: BackoffOptions): Backoff {
  const bounds = { initialDelay: initialMs, maxDelay: maxMs };
  const policy =
    jitter === 'full'
      ? new ExponentialBackoff({ ...bounds, generator: fullJitterGenerator })
      : new ExponentialBackoff({ ...bounds, generator: decorrelatedJitterGenerator });
  let step: IBackoff<unknown> = policy.next();
  let fresh = true;
  return {
    next() {
      if (!fresh) step = step.next(undefined);
      fresh = false;
      return step.duration;
    },
    reset() {
      step = policy.next();
      fresh = true;
    },
  };
}
