import { setTimeout as delay } from 'node:timers/promises';

/** Waits; rejects with the signal's reason as soon as it is aborted. */
export async function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  try {
    await delay(milliseconds, undefined, signal === undefined ? {} : { signal });
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  }
}

/**
 * Waits for the promise until `deadline` (of `performance.now()`), then rejects with the result of `late`, or with the
 * signal's reason as soon as it is aborted. A later outcome of the promise is ignored.
 */
export async function within<T>(
  promise: Promise<T>,
  deadline: number,
  signal: AbortSignal | undefined,
  late: () => unknown,
): Promise<T> {
  const ended = Promise.withResolvers<never>();
  const aborted = () => ended.reject(signal?.reason);
  const timer = setTimeout(() => ended.reject(late()), Math.max(0, deadline - performance.now()));
  signal?.addEventListener('abort', aborted, { once: true });
  if (signal?.aborted) aborted();
  try {
    return await Promise.race([ended.promise, promise]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', aborted);
  }
}

/**
 * Waits for the promise; rejects with the signal's reason as soon as it is aborted. A later outcome of the promise is
 * ignored.
 */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const aborted = () => reject(signal.reason);
    if (signal.aborted) aborted();
    signal.addEventListener('abort', aborted, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', aborted));
  });
}

/** Resolves when the signal is aborted, at once if it already is. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Calls `work` for each item, at most `limit` at a time; results in order. The first failure ends the calls. */
export async function concurrently<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results = new Array<R>(items.length);
  let next = 0;
  let failed = false;
  const worker = async () => {
    while (next < items.length && !failed) {
      const index = next++;
      results[index] = await work(items[index] as T);
    }
  };
  const workers = Array.from({ length: Math.min(limit, items.length) }, worker);
  await Promise.all(workers).finally(() => {
    failed = true;
  });
  return results;
}

export interface PeriodicOptions {
  /** One pass. @returns milliseconds until the next; an error ends the loop and rejects `closed` */
  readonly pass: () => Promise<number>;
  /** Ends the loop after the current pass. */
  readonly signal: AbortSignal;
  /** Milliseconds before the first pass; default: it begins at once. */
  readonly firstMs?: number;
  /** Minimum pause in milliseconds, even after `wake`, so that repeated calls cause no busy loop. */
  readonly minPauseMs?: number;
}

/** Periodic work, one pass after another. */
export interface Periodic {
  /** Starts the next pass as soon as the current one has ended. */
  wake(): void;
  /** Resolves once the signal was aborted and the last pass has ended. */
  readonly closed: Promise<void>;
}

export function startPeriodic({ pass, signal, firstMs = 0, minPauseMs = 0 }: PeriodicOptions): Periodic {
  let woken = new AbortController();
  const pause = async (delayMs: number) => {
    const either = AbortSignal.any([signal, woken.signal]);
    if (minPauseMs > 0) await sleep(Math.min(minPauseMs, delayMs), signal).catch(() => {});
    await sleep(delayMs, either).catch(() => {});
  };
  const run = async () => {
    if (firstMs > 0) await pause(firstMs);
    while (!signal.aborted) {
      woken = new AbortController();
      await pause(await pass());
    }
  };
  return { wake: () => woken.abort(), closed: run() };
}

export interface RetryOptions extends BackoffOptions {
  /** False for errors that another attempt cannot fix. */
  readonly isRetryable: (error: unknown) => boolean;
  /** Milliseconds that the next attempt waits at least, such as a server asks for. */
  readonly leastMs?: (error: unknown) => number;
  /** Total number of attempts, including the first. */
  readonly maxAttempts?: number;
  /** Milliseconds after the first attempt beyond which no further one begins. */
  readonly maxElapsedMs?: number;
  readonly signal?: AbortSignal;
  readonly onRetry?: (error: unknown, delayMs: number, attempt: number) => void;
}

/**
 * Calls `attempt` until it succeeds, with growing, jittered delays. Rejects with the last error when the limits are
 * reached, and with the signal's reason when aborted.
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
      const delayMs = Math.max(backoff.next(), options.leastMs?.(error) ?? 0);
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
  /** Maximum of the first delay in milliseconds; each further one at most doubles. */
  readonly initialMs: number;
  /** Maximum delay in milliseconds. */
  readonly maxMs: number;
}

/** Growing, jittered delays. */
export interface Backoff {
  /** The next delay in milliseconds: between half of the current maximum and all of it. */
  next(): number;
  /** Restarts with the first delay, after a success. */
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
  /** Milliseconds until the next pass after a success. */
  readonly delayMs: () => number;
  /** Milliseconds until the next pass after a failure. */
  readonly backoff: Backoff;
  /** Milliseconds that it waits at least. */
  readonly leastMs?: ((error: unknown) => number) | undefined;
  /** Not called for a pass that failed because the signal was aborted. */
  readonly onFailure: (error: unknown, retryMs: number) => void;
}

/** Repeats work that may fail: a failure is reported and never ends the loop. */
export function startRepeated({
  work,
  delayMs,
  backoff,
  leastMs,
  onFailure,
  ...rest
}: RepeatedOptions): Periodic {
  const pass = async () => {
    try {
      await work();
    } catch (error) {
      const retryMs = Math.max(backoff.next(), leastMs?.(error) ?? 0);
      if (!rest.signal.aborted) onFailure(error, retryMs);
      return retryMs;
    }
    backoff.reset();
    return delayMs();
  };
  return startPeriodic({ pass, ...rest });
}
