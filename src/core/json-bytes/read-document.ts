import { isUtf8 } from 'node:buffer';
import { char, isDigit, isSpace } from './bytes.ts';
import { decodeString } from './decode-string.ts';
import { JsonError } from './json-error.ts';
import type { JsonKind, JsonMember, JsonValue } from './json-value.ts';
import { scanNumber, scanString, scanWord } from './scan-scalar.ts';

/**
 * Checks a whole JSON text in UTF-8 and tells where its one value stands. No part of it becomes a string.
 * @throws JsonError
 */
export function readDocument(bytes: Uint8Array): JsonValue {
  if (!isUtf8(bytes)) throw new JsonError(0, 'UTF-8');
  const root = scanValue(bytes, skipSpace(bytes, 0));
  const end = skipSpace(bytes, root.end);
  if (end !== bytes.length) throw new JsonError(end, 'the end');
  return root;
}

/**
 * The members of the object that begins at `at`. Of members with the same name the last one counts, as for JSON.parse.
 * @throws JsonError where no object stands there
 */
export function readObject(bytes: Uint8Array, at: number): JsonMember[] {
  const members = new Map<string, JsonMember>();
  if (bytes[at] !== 0x7b) throw new JsonError(at, 'an object');
  scanMembers(bytes, at, 0, (nameStart, nameEnd, value) => {
    const name = readName(bytes, nameStart, nameEnd);
    members.set(name, { name, ...value });
  });
  return [...members.values()];
}

/**
 * The items of the array that begins at `at`.
 * @throws JsonError where no array stands there
 */
export function readArray(bytes: Uint8Array, at: number): JsonValue[] {
  const items: JsonValue[] = [];
  if (bytes[at] !== 0x5b) throw new JsonError(at, 'an array');
  scanItems(bytes, at, 0, (item) => items.push(item));
  return items;
}

/** What the scanned string, which is no secret, means. */
export function readName(bytes: Uint8Array, start: number, end: number): string {
  const name = new Uint8Array(end - start - 2);
  return readText(name, 0, decodeString(bytes, start, end, name));
}

/** ASCII or UTF-8 that is no secret. */
export const readText = (bytes: Uint8Array, start: number, end: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8');

/** Objects and arrays inside each other, at most. */
export const maxDepth = 100;

/** Gets each member of an object: where its name stands, quotes included, and its value. */
export type Visit = (nameStart: number, nameEnd: number, value: JsonValue) => void;

function skipSpace(bytes: Uint8Array, at: number): number {
  let next = at;
  while (isSpace(bytes[next])) next++;
  return next;
}

/**
 * The value that begins at `at`, checked to its end.
 * @throws JsonError
 */
function scanValue(bytes: Uint8Array, at: number, depth = 0): JsonValue {
  const first = bytes[at];
  if (first === char.quote) return value('string', at, scanString(bytes, at));
  if (first === char.openBrace) return value('object', at, scanMembers(bytes, at, depth));
  if (first === char.openBracket) return value('array', at, scanItems(bytes, at, depth));
  if (first === char.t) return value('boolean', at, scanWord(bytes, at, 'true'));
  if (first === char.f) return value('boolean', at, scanWord(bytes, at, 'false'));
  if (first === char.n) return value('null', at, scanWord(bytes, at, 'null'));
  if (first === char.minus || isDigit(first)) return value('number', at, scanNumber(bytes, at));
  throw new JsonError(at, 'a value');
}

const value = (kind: JsonKind, start: number, end: number): JsonValue => ({ kind, start, end });

/** @returns the end of the object that begins at `at` */
function scanMembers(bytes: Uint8Array, at: number, depth: number, visit?: Visit): number {
  return scanList(bytes, at, depth, char.closeBrace, (start) => {
    if (bytes[start] !== char.quote) throw new JsonError(start, 'a name');
    const nameEnd = scanString(bytes, start);
    const colon = skipSpace(bytes, nameEnd);
    if (bytes[colon] !== char.colon) throw new JsonError(colon, 'a colon');
    const member = scanValue(bytes, skipSpace(bytes, colon + 1), depth + 1);
    visit?.(start, nameEnd, member);
    return member.end;
  });
}

/** @returns the end of the array that begins at `at` */
const scanItems = (bytes: Uint8Array, at: number, depth: number, visit?: (item: JsonValue) => void): number =>
  scanList(bytes, at, depth, char.closeBracket, (start) => {
    const item = scanValue(bytes, start, depth + 1);
    visit?.(item);
    return item.end;
  });

function scanList(
  bytes: Uint8Array,
  at: number,
  depth: number,
  close: number,
  scanItem: (start: number) => number,
): number {
  if (depth >= maxDepth) throw new JsonError(at, `at most ${maxDepth} levels`);
  let next = skipSpace(bytes, at + 1);
  if (bytes[next] === close) return next + 1;
  for (;;) {
    next = skipSpace(bytes, scanItem(next));
    if (bytes[next] === close) return next + 1;
    if (bytes[next] !== char.comma) throw new JsonError(next, 'a comma or the end of a list');
    next = skipSpace(bytes, next + 1);
  }
}
