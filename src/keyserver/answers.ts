import { readName } from '../runtime/bounds/json-document.ts';
import type { JsonView } from '../runtime/bounds/json-view.ts';

/* What the key server's answers say, and whether asking again may help: the same for every component. */

/** Texts of the errors in an answer. */
export function errorsOf(view: JsonView): string[] {
  const errors = view.at('errors');
  if (errors?.kind !== 'array') return [];
  return view
    .items(errors)
    .filter(({ kind }) => kind === 'string')
    .map(({ start, end }) => readName(view.bytes, start, end));
}

/** Error texts of the key server for a status of 400 or more. */
export function serverErrors(body: unknown): string[] {
  const errors = isRecord(body) ? body['errors'] : undefined;
  return Array.isArray(errors) ? errors.filter((error) => typeof error === 'string') : [];
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The `data` object of an answer; empty if there is none. */
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
 * Tells a refused token from a refused path: for an unknown token OpenBao and older Vaults answer a bare "permission
 * denied", newer Vaults add "invalid token"; a policy's refusal is a list ("1 error occurred: …").
 */
export function namesDeadToken(errors: readonly string[]): boolean {
  return errors.some((error) => error.trim() === 'permission denied' || /\binvalid token\b/.test(error));
}

/** Whether a 403 is a policy's. Without a reason it is not even the key server's: something in between answered. */
export const namesPolicy = (errors: readonly string[]): boolean =>
  errors.length > 0 && !namesDeadToken(errors);

/** OpenBao's limit on the strings of a request, or any server's limit on its size. */
export function namesTooLarge(status: number, errors: readonly string[]): boolean {
  return (
    status === 413 ||
    (status === 400 && errors.some((error) => /high complexity|too (large|many)/.test(error)))
  );
}

/** The key's `min_decryption_version` is above the ciphertext's version. */
export const namesExpiredVersion = (error: string): boolean => /disallowed by policy \(too old\)/.test(error);

export const namesMissingKey = (error: string): boolean => /encryption key not found/.test(error);

/** A gateway's time limit, data that has not arrived at this node yet, too early, too many, standbys. */
const passing: ReadonlySet<number> = new Set([408, 412, 425, 429, 472, 473]);

/** Sealed, busy, failing or electing a leader: worth a retry. 501 is not: what is not implemented stays so. */
export const mayRetryStatus = (status: number): boolean =>
  passing.has(status) || (status >= 500 && status !== 501);

const star = 0x2a;
const shortest = 16;
/** Random text in base 64, 62 or 32 switches between capitals, small letters and digits far more often. */
const longestStretch = 5;
/** Hexadecimal text has at least one digit in this many characters. */
const scarcestDigits = 4;

/**
 * Overwrites random-looking parts of a text with `*`, so that a key server that repeats a token or value in an error
 * cannot bring it into a log. Words, paths and host names stay.
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

/** Counts in place, because a copy would be another place of a secret. */
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

/** Includes `+`, `-`, `_` and `=`, which base64 uses; not `/`, `.` and `:`, which join words. */
function isOfWord(byte: number): boolean {
  return kindOf(byte) !== undefined || byte === 0x2b || byte === 0x2d || byte === 0x5f || byte === 0x3d;
}

function kindOf(byte: number): 'digit' | 'capital' | 'letter' | undefined {
  if (byte >= 0x30 && byte <= 0x39) return 'digit';
  if (byte >= 0x41 && byte <= 0x5a) return 'capital';
  return byte >= 0x61 && byte <= 0x7a ? 'letter' : undefined;
}
