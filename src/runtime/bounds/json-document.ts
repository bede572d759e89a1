import { isUtf8 } from 'node:buffer';

/**
 * Validates a whole JSON text in UTF-8 and locates its value. No part of the text becomes a string. @throws JsonError
 */
export function readDocument(bytes: Uint8Array): JsonValue {
  if (!isUtf8(bytes)) throw new JsonError(0, 'UTF-8');
  const start = skipSpace(bytes, 0);
  const end = skipSpace(bytes, scanValue(bytes, start));
  if (end !== bytes.length) throw new JsonError(end, 'the end');
  return valueAt(bytes, start);
}

/** Maximum members of an object, and items of a list, that are made into objects. */
export const maxEntries = 10_000;

/**
 * The members of the scanned object at `at`. If a name repeats, its last value counts, as with JSON.parse.
 * @throws JsonError if there is no object, or one with more than `maxEntries` members
 */
export function readObject(bytes: Uint8Array, at: number): JsonMember[] {
  const members = new Map<string, JsonMember>();
  visitMembers(bytes, at, (nameStart, nameEnd, value) => {
    if (members.size === maxEntries) throw new JsonError(nameStart, 'fewer members');
    const name = readName(bytes, nameStart, nameEnd);
    members.set(name, { name, ...value });
    return true;
  });
  return [...members.values()];
}

/**
 * Calls `visit` for each member of the scanned object at `at`, in order.
 * @throws JsonError if there is no object
 */
export function visitMembers(bytes: Uint8Array, at: number, visit: VisitMember): void {
  if (bytes[at] !== char.openBrace) throw new JsonError(at, 'an object');
  walkList(bytes, at, (start) => {
    const nameEnd = scanString(bytes, start);
    const value = valueAt(bytes, skipSpace(bytes, skipSpace(bytes, nameEnd) + 1));
    return visit(start, nameEnd, value) ? value.end : undefined;
  });
}

/**
 * The items of the scanned array at `at`.
 * @throws JsonError if there is no array, or one with more than `maxEntries` items
 */
export function readArray(bytes: Uint8Array, at: number): JsonValue[] {
  const items: JsonValue[] = [];
  visitItems(bytes, at, (item) => {
    if (items.push(item) > maxEntries) throw new JsonError(item.start, 'fewer items');
    return true;
  });
  return items;
}

/**
 * Calls `visit` for each item of the scanned array at `at`, in order, until it returns false.
 * @throws JsonError if there is no array
 */
export function visitItems(bytes: Uint8Array, at: number, visit: (item: JsonValue) => boolean): void {
  if (bytes[at] !== char.openBracket) throw new JsonError(at, 'an array');
  walkList(bytes, at, (start) => {
    const item = valueAt(bytes, start);
    return visit(item) ? item.end : undefined;
  });
}

/** Decodes a scanned string, which must not be a secret. */
export function readName(bytes: Uint8Array, start: number, end: number): string {
  if (!bytes.subarray(start, end).includes(char.backslash)) return readText(bytes, start + 1, end - 1);
  const name = new Uint8Array(end - start - 2);
  return readText(name, 0, decodeString(bytes, start, end, name));
}

/** Decodes ASCII or UTF-8, which must not be a secret. */
export const readText = (bytes: Uint8Array, start: number, end: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8');

/** Maximum nesting depth. */
export const maxDepth = 100;

/**
 * Called for each member of an object with the offsets of its name, including the quotes, and its value.
 * @returns false to see no more
 */
export type VisitMember = (nameStart: number, nameEnd: number, value: JsonValue) => boolean;

function skipSpace(bytes: Uint8Array, at: number): number {
  let next = at;
  while (isSpace(bytes[next])) next++;
  return next;
}

/**
 * Scans and validates the value at `at`, without building anything.
 * @returns its end
 * @throws JsonError
 */
function scanValue(bytes: Uint8Array, at: number, depth = 0): number {
  const first = bytes[at];
  if (first === char.quote) return scanString(bytes, at);
  if (first === char.openBrace || first === char.openBracket) return scanList(bytes, at, depth);
  if (first === char.t) return scanWord(bytes, at, 'true');
  if (first === char.f) return scanWord(bytes, at, 'false');
  if (first === char.n) return scanWord(bytes, at, 'null');
  if (first === char.minus || isDigit(first)) return scanNumber(bytes, at);
  throw new JsonError(at, 'a value');
}

/** @returns the end of the object or array at `at` */
function scanList(bytes: Uint8Array, at: number, depth: number): number {
  if (depth >= maxDepth) throw new JsonError(at, `at most ${maxDepth} levels`);
  const close = closeOf(bytes, at);
  let next = skipSpace(bytes, at + 1);
  if (bytes[next] === close) return next + 1;
  for (;;) {
    if (close === char.closeBrace) next = scanName(bytes, next);
    next = skipSpace(bytes, scanValue(bytes, next, depth + 1));
    if (bytes[next] === close) return next + 1;
    if (bytes[next] !== char.comma) throw new JsonError(next, 'a comma or the end of a list');
    next = skipSpace(bytes, next + 1);
  }
}

const closeOf = (bytes: Uint8Array, at: number): number =>
  bytes[at] === char.openBrace ? char.closeBrace : char.closeBracket;

/** @returns where the value of the name at `at` starts */
function scanName(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== char.quote) throw new JsonError(at, 'a name');
  const colon = skipSpace(bytes, scanString(bytes, at));
  if (bytes[colon] !== char.colon) throw new JsonError(colon, 'a colon');
  return skipSpace(bytes, colon + 1);
}

/**
 * Calls `visit` with the offset of each member's name, or of each item, in a list that has been scanned.
 * @param visit returns where the entry ends; undefined ends the walk
 */
function walkList(bytes: Uint8Array, at: number, visit: (start: number) => number | undefined): void {
  const close = closeOf(bytes, at);
  let next = skipSpace(bytes, at + 1);
  while (bytes[next] !== close) {
    const end = visit(next);
    if (end === undefined) return;
    next = skipSpace(bytes, end);
    if (bytes[next] === char.comma) next = skipSpace(bytes, next + 1);
  }
}

/** The scanned value at `at`. */
function valueAt(bytes: Uint8Array, at: number): JsonValue {
  const first = bytes[at];
  if (first === char.quote) return { kind: 'string', start: at, end: scanString(bytes, at) };
  if (first === char.openBrace) return { kind: 'object', start: at, end: skipList(bytes, at) };
  if (first === char.openBracket) return { kind: 'array', start: at, end: skipList(bytes, at) };
  if (first === char.minus || isDigit(first))
    return { kind: 'number', start: at, end: scanNumber(bytes, at) };
  const kind = first === char.n ? 'null' : 'boolean';
  return { kind, start: at, end: at + (first === char.f ? 5 : 4) };
}

/** @returns the end of the scanned object or array at `at` */
function skipList(bytes: Uint8Array, at: number): number {
  let open = 0;
  let next = at;
  do {
    const byte = bytes[next];
    if (byte === char.openBrace || byte === char.openBracket) open++;
    else if (byte === char.closeBrace || byte === char.closeBracket) open--;
    next = byte === char.quote ? scanString(bytes, next) : next + 1;
  } while (open > 0);
  return next;
}

type JsonKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';

/** The position of a value: `end` is exclusive; a string includes its quotes. */
export interface JsonValue {
  readonly kind: JsonKind;
  readonly start: number;
  readonly end: number;
}

/** A member of an object; its name must not be a secret. */
export interface JsonMember extends JsonValue {
  readonly name: string;
}

/** Invalid JSON. The message gives the position and never quotes the text, which may be a secret. */
export class JsonError extends Error {
  override readonly name = 'JsonError';
  /** Offset of the offending byte. */
  readonly at: number;

  constructor(at: number, expected: string) {
    super(`not JSON at byte ${at}: expected ${expected}`);
    this.at = at;
  }
}

/** @returns the end of the string at `at`, which is its opening quote */
export function scanString(bytes: Uint8Array, at: number): number {
  let next = at + 1;
  for (;;) {
    const byte = bytes[next];
    if (byte === undefined || byte < char.space) throw new JsonError(next, 'the rest of a string');
    if (byte === char.quote) return next + 1;
    next = byte === char.backslash ? scanEscape(bytes, next) : next + 1;
  }
}

const simpleEscapes = new Set(Buffer.from('"\\/bfnrt'));

function scanEscape(bytes: Uint8Array, at: number): number {
  const kind = bytes[at + 1];
  if (kind !== undefined && simpleEscapes.has(kind)) return at + 2;
  const end = at + 6;
  for (let next = at + 2; next < end; next++) {
    if (kind !== char.u || hexDigit(bytes[next]) < 0) throw new JsonError(next, 'an escape sequence');
  }
  return end;
}

/** @returns the end of the number at `at` */
function scanNumber(bytes: Uint8Array, at: number): number {
  let next = bytes[at] === char.minus ? at + 1 : at;
  next = bytes[next] === char.zero ? next + 1 : scanDigits(bytes, next);
  if (bytes[next] === char.point) next = scanDigits(bytes, next + 1);
  if (bytes[next] === 0x65 || bytes[next] === 0x45) {
    const sign = bytes[next + 1];
    next = scanDigits(bytes, sign === char.plus || sign === char.minus ? next + 2 : next + 1);
  }
  return next;
}

function scanDigits(bytes: Uint8Array, at: number): number {
  if (!isDigit(bytes[at])) throw new JsonError(at, 'a digit');
  let next = at + 1;
  while (isDigit(bytes[next])) next++;
  return next;
}

/** @returns the end of `word`, which must be at `at` */
function scanWord(bytes: Uint8Array, at: number, word: string): number {
  for (let index = 0; index < word.length; index++) {
    if (bytes[at + index] !== word.charCodeAt(index)) throw new JsonError(at + index, 'a value');
  }
  return at + word.length;
}

const replacement = 0xfffd;
const simple = new Map<number, number>(
  Object.entries({ '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }).map(
    ([letter, meant]) => [letter.charCodeAt(0), meant.charCodeAt(0)],
  ),
);

/**
 * Decodes a scanned string (`start` and `end` include the quotes) into `into`, as UTF-8; an unpaired surrogate becomes
 * U+FFFD. The text never grows, so `into` may be the same memory from `start` on.
 * @returns bytes written, at most `end - start - 2`
 */
export function decodeString(bytes: Uint8Array, start: number, end: number, into: Uint8Array): number {
  const last = end - 1;
  let from = start + 1;
  let to = 0;
  while (from < last) {
    const byte = bytes[from] as number;
    if (byte !== char.backslash) {
      into[to++] = byte;
      from++;
    } else if (bytes[from + 1] !== char.u) {
      into[to++] = unescaped(bytes, from);
      from += 2;
    } else {
      const point = codePoint(bytes, from, last);
      from += point > 0xffff ? 12 : 6;
      to = writeUtf8(point, into, to);
    }
  }
  return to;
}

function unescaped(bytes: Uint8Array, at: number): number {
  const meant = simple.get(bytes[at + 1] ?? 0);
  if (meant === undefined) throw new JsonError(at, 'an escape sequence');
  return meant;
}

/** The code point of one or two `\u` sequences at `at`. */
function codePoint(bytes: Uint8Array, at: number, last: number): number {
  const unit = codeUnit(bytes, at);
  if (unit < 0xd800 || unit > 0xdfff) return unit;
  const paired =
    unit < 0xdc00 && at + 12 <= last && bytes[at + 6] === char.backslash && bytes[at + 7] === char.u;
  const low = paired ? codeUnit(bytes, at + 6) : 0;
  if (low < 0xdc00 || low > 0xdfff) return replacement;
  return 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
}

function codeUnit(bytes: Uint8Array, at: number): number {
  let unit = 0;
  for (let next = at + 2; next < at + 6; next++) {
    const digit = hexDigit(bytes[next]);
    if (digit < 0) throw new JsonError(next, 'a hexadecimal digit');
    unit = unit * 16 + digit;
  }
  return unit;
}

function writeUtf8(point: number, into: Uint8Array, at: number): number {
  if (point < 0x80) {
    into[at] = point;
    return at + 1;
  }
  const more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
  const lead = more === 1 ? 0xc0 : more === 2 ? 0xe0 : 0xf0;
  into[at] = lead | (point >> (6 * more));
  for (let index = 1; index <= more; index++) {
    into[at + index] = 0x80 | ((point >> (6 * (more - index))) & 0x3f);
  }
  return at + more + 1;
}

/** Characters of JSON's grammar. */
export const char = {
  tab: 0x09,
  lineFeed: 0x0a,
  carriageReturn: 0x0d,
  space: 0x20,
  quote: 0x22,
  plus: 0x2b,
  comma: 0x2c,
  minus: 0x2d,
  point: 0x2e,
  zero: 0x30,
  nine: 0x39,
  colon: 0x3a,
  openBracket: 0x5b,
  backslash: 0x5c,
  closeBracket: 0x5d,
  f: 0x66,
  n: 0x6e,
  t: 0x74,
  u: 0x75,
  openBrace: 0x7b,
  closeBrace: 0x7d,
} as const;

export function isSpace(byte: number | undefined): boolean {
  return byte === char.space || byte === char.lineFeed || byte === char.carriageReturn || byte === char.tab;
}

const isDigit = (byte: number | undefined): boolean =>
  byte !== undefined && byte >= char.zero && byte <= char.nine;

/** 0 to 15, or -1. */
function hexDigit(byte: number | undefined): number {
  if (byte === undefined) return -1;
  if (isDigit(byte)) return byte - char.zero;
  const letter = (byte | 0x20) - 0x61;
  return letter >= 0 && letter < 6 ? letter + 10 : -1;
}
