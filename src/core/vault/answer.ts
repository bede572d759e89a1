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

const star = 0x2a;
const shortest = 16;
/** Random text in base 64, 62 or 32 changes between capitals, small letters and digits far more often. */
const longestStretch = 5;
/** One in so many is a digit in what is hexadecimal. */
const scarcestDigits = 4;

/**
 * Overwrites by `*` what looks random in a text: a key server that repeats a token or a value in its complaint must
 * not bring it into a log. Words, paths and host names stay.
 */
export function crossOutOpaque(text: Uint8Array): void {
  let start = 0;
  for (let at = 0; at <= text.length; at++) {
    if (at < text.length && isOfWord(text[at] as number)) continue;
    const word = text.subarray(start, at);
    if (word.length >= shortest && looksRandom(word)) word.fill(star);
    start = at + 1;
  }
}

/** Counts in place: a copy would be one more place of a secret. */
function looksRandom(word: Uint8Array): boolean {
  let digits = 0;
  let changes = 0;
  let last: string | undefined;
  for (const byte of word) {
    const kind = kindOf(byte);
    if (kind === 'digit') digits++;
    if (kind !== undefined && last !== undefined && kind !== last) changes++;
    last = kind ?? last;
  }
  return changes * longestStretch >= word.length || digits * scarcestDigits >= word.length;
}

/** `+`, `-`, `_` and `=` as well, which base 64 uses; not `/`, `.` and `:`, which join words. */
function isOfWord(byte: number): boolean {
  return kindOf(byte) !== undefined || byte === 0x2b || byte === 0x2d || byte === 0x5f || byte === 0x3d;
}

function kindOf(byte: number): 'digit' | 'capital' | 'letter' | undefined {
  if (byte >= 0x30 && byte <= 0x39) return 'digit';
  if (byte >= 0x41 && byte <= 0x5a) return 'capital';
  return byte >= 0x61 && byte <= 0x7a ? 'letter' : undefined;
}
