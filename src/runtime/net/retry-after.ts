/** More than that is a mistake, or a way to keep us away. */
const maxWaitMs = 60_000;
/** Whole seconds by RFC 9110; some servers send parts of them. */
const seconds = /^\d{1,9}(?:\.\d{1,9})?$/;

/**
 * For how many milliseconds a `Retry-After` header, in seconds or as a date, asks to wait; empty if it does not.
 * @param maxMs of the result; more is for those who give up rather than wait for long
 */
export function retryAfter(
  header: string | undefined,
  maxMs: number = maxWaitMs,
): { readonly retryAfterMs?: number } {
  if (header === undefined) return {};
  const ms = seconds.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return ms > 0 ? { retryAfterMs: Math.min(ms, maxMs) } : {};
}
