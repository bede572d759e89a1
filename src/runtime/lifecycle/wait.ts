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
 * Waits for the promise until `deadline` (of `performance.now()`), then rejects with what `late` makes,
 * or with the signal's reason as soon as it is aborted. What the promise does later is ignored.
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

/** Resolves when the signal is aborted, at once where it is already. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Calls `work` for each item, at most `limit` at a time; results in order. The first failure ends it. */
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
