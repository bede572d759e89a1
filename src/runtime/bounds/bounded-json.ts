import { char, JsonError, maxDepth, readText } from './json-document.ts';

/** Limits of a JSON text from outside, checked before anything is built from it. */
export interface JsonBounds {
  /** Maximum number of values and member names. Each takes up to `bytesPerPart` of memory beside its text. */
  readonly maxParts: number;
  /** Maximum nesting depth; default: 100. */
  readonly maxDepth?: number;
}

/** What V8 takes at most for a value or name beside its text, measured over objects, lists and dictionaries. */
export const bytesPerPart = 72;

/** More values and names than the bound allows; the text may be JSON all the same. */
export class TooManyParts extends JsonError {
  constructor(at: number, maxParts: number) {
    super(at, `at most ${maxParts} values and names`);
  }
}

export interface JsonSize {
  /** Values and member names. */
  readonly parts: number;
  /** Deepest nesting. */
  readonly depth: number;
}

/** Long ones should come as bytes: what is refused is then never decoded, and a string is encoded once more to be counted. */
export type JsonText = Uint8Array | string;

/**
 * Parses a JSON text whose size, count and depth are bounded; the caller has bounded its bytes.
 * @throws TooManyParts, JsonError if it exceeds another bound, SyntaxError if it is no JSON
 */
export function parseBounded(text: JsonText, bounds: JsonBounds): unknown {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  sizeOfJson(bytes, { maxDepth, ...bounds });
  return JSON.parse(typeof text === 'string' ? text : readText(bytes, 0, bytes.length));
}

/**
 * Counts in one pass over the bytes, without building anything. The counts are right for every text that is JSON, and
 * at least as high as what a parser builds before it finds that a text is none.
 * @throws TooManyParts, JsonError as soon as a bound is exceeded
 */
export function sizeOfJson(bytes: Uint8Array, bounds: Partial<JsonBounds> = {}): JsonSize {
  const { maxParts = Number.POSITIVE_INFINITY, maxDepth = Number.POSITIVE_INFINITY } = bounds;
  let parts = 0;
  let depth = 0;
  let reached = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (isClose(byte)) depth--;
    if (isBetween(byte)) continue;
    parts++;
    if (byte === char.quote) at = lastOfString(bytes, at);
    else if (byte === char.openBrace || byte === char.openBracket) {
      depth++;
      if (depth > reached) reached = depth;
      if (depth > maxDepth) throw new JsonError(at, `at most ${maxDepth} levels`);
    } else while (at + 1 < bytes.length && !isBetween(bytes[at + 1] as number)) at++;
    if (parts > maxParts) throw new TooManyParts(at, maxParts);
  }
  return { parts, depth: reached };
}

/** Whether a byte outside of strings begins no value or name. */
const isBetween = (byte: number): boolean =>
  byte <= char.space || byte === char.comma || byte === char.colon || isClose(byte);

const isClose = (byte: number): boolean => byte === char.closeBrace || byte === char.closeBracket;

/** Offset of the closing quote, or the end of the text. */
function lastOfString(bytes: Uint8Array, at: number): number {
  let next = at + 1;
  while (next < bytes.length && bytes[next] !== char.quote) next += bytes[next] === char.backslash ? 2 : 1;
  return next;
}
