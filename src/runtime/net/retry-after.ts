/** More than that is a mistake, or a way to keep us away. */
const maxMs = 60_000;

/** For how many milliseconds a `Retry-After` header, in seconds or as a date, asks to wait; empty if it does not. */
export function retryAfter(header: string | undefined): { readonly retryAfterMs?: number } {
  if (header === undefined) return {};
  const ms = /^\d{1,9}$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return ms > 0 ? { retryAfterMs: Math.min(ms, maxMs) } : {};
}
