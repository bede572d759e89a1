import { char, isDigit, isSpace } from './bytes.ts';
import { JsonError } from './json-error.ts';
import type { JsonKind, JsonValue } from './json-value.ts';
import { scanNumber, scanString, scanWord } from './scan-scalar.ts';

/** Objects and arrays inside each other, at most. */
export const maxDepth = 100;

/** Gets each member of an object: where its name stands, quotes included, and its value. */
export type Visit = (nameStart: number, nameEnd: number, value: JsonValue) => void;

export function skipSpace(bytes: Uint8Array, at: number): number {
  let next = at;
  while (isSpace(bytes[next])) next++;
  return next;
}

/**
 * The value that begins at `at`, checked to its end.
 * @throws JsonError
 */
export function scanValue(bytes: Uint8Array, at: number, depth = 0): JsonValue {
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
export function scanMembers(bytes: Uint8Array, at: number, depth: number, visit?: Visit): number {
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
export const scanItems = (
  bytes: Uint8Array,
  at: number,
  depth: number,
  visit?: (item: JsonValue) => void,
): number =>
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
