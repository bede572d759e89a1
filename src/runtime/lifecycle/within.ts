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
