/** What the key server writes beside a status of 400 or more. */
export function serverErrors(body: unknown): string[] {
  const errors = isRecord(body) ? body['errors'] : undefined;
  return Array.isArray(errors) ? errors.filter((error) => typeof error === 'string') : [];
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What is asked for lies there; empty where the answer has none. */
export function dataOf(body: unknown): Readonly<Record<string, unknown>> {
  return isRecord(body) && isRecord(body['data']) ? body['data'] : {};
}

/** One printable line of at most 200 characters. */
export function summarize(errors: readonly string[]): string {
  const line = errors
    .join('; ')
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim();
  return line.length > 200 ? `${line.slice(0, 199)}…` : line;
}

/**
 * Tells a refused token from a refused path: OpenBao and older Vaults answer a bare
 * "permission denied" for a token that they do not know, newer Vaults add "invalid
 * token"; a policy's refusal comes as a list ("1 error occurred: …").
 */
export function namesDeadToken(errors: readonly string[]): boolean {
  return errors.some((error) => error.trim() === 'permission denied' || /\binvalid token\b/.test(error));
}

/** OpenBao's bound on the strings of one request, or anybody's on its size. */
export function namesTooLarge(status: number, errors: readonly string[]): boolean {
  return (
    status === 413 ||
    (status === 400 && errors.some((error) => /high complexity|too (large|many)/.test(error)))
  );
}

/** The key's `min_decryption_version` is above the version of the ciphertext. */
export const namesExpiredVersion = (error: string): boolean => /disallowed by policy \(too old\)/.test(error);

export const namesMissingKey = (error: string): boolean => /encryption key not found/.test(error);

/** Sealed, busy, broken or in the middle of an election: worth another attempt. */
export const mayRetryStatus = (status: number): boolean =>
  status === 429 || (status >= 500 && status !== 501);
