import { isUtf8 } from 'node:buffer';
import { decodeString } from './decode-string.ts';
import { JsonError } from './json-error.ts';
import type { JsonMember, JsonValue } from './json-value.ts';
import { scanItems, scanMembers, scanValue, skipSpace } from './scan-value.ts';

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
