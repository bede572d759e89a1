/**
 * Waits for the promise until `deadline` (of `performance.now()`), then rejects with what `late` makes,
 * or with the signal's reason as soon as it is aborted. What the promise does later is ignored.
 */
export function within<T>(
  promise: Promise<T>,
  deadline: number,
  signal: AbortSignal | undefined,
  late: () => unknown,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    if (signal?.aborted) reject(signal.reason);
    const aborted = () => reject(signal?.reason);
    const timer = setTimeout(() => reject(late()), Math.max(0, deadline - performance.now()));
    signal?.addEventListener('abort', aborted, { once: true });
    promise.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', aborted);
    });
  });
}
