import { sizeOfJson } from './bounded-json.ts';
import {
  char,
  isSpace,
  JsonError,
  type JsonMember,
  type JsonValue,
  readArray,
  readDocument,
  readName,
  readObject,
  readText,
  scanString,
} from './json-document.ts';

/** More than the largest batch that a key server is asked for, and the largest secret. */
const maxParts = 200_000;

/** A JSON text that is read in place, by paths of member names. */
export class JsonView {
  readonly bytes: Uint8Array;
  readonly root: JsonValue;
  readonly #objects = new Map<number, readonly JsonMember[]>();

  /**
   * @param parts maximum number of values and names, each of which may become an object. Default: 200,000
   * @throws JsonError unless the bytes are exactly one JSON text in UTF-8
   */
  constructor(bytes: Uint8Array, parts = maxParts) {
    sizeOfJson(bytes, { maxParts: parts });
    this.bytes = bytes;
    this.root = readDocument(bytes);
  }

  /** The value at the end of the path; undefined if a member is missing or a value on the way is not an object. */
  at(...names: readonly string[]): JsonValue | undefined {
    let found: JsonValue | undefined = this.root;
    for (const name of names) {
      if (found?.kind !== 'object') return undefined;
      found = this.members(found).find((member) => member.name === name);
    }
    return found;
  }

  /** @throws JsonError unless it is an object */
  members(object: JsonValue): readonly JsonMember[] {
    if (object.kind !== 'object') throw new JsonError(object.start, 'an object');
    const known = this.#objects.get(object.start);
    if (known !== undefined) return known;
    const members = readObject(this.bytes, object.start);
    this.#objects.set(object.start, members);
    return members;
  }

  /** @throws JsonError unless it is an array */
  items(array: JsonValue): readonly JsonValue[] {
    return readArray(this.bytes, array.start);
  }

  /** A number that must not be a secret; undefined for another kind. */
  number(...names: readonly string[]): number | undefined {
    const value = this.at(...names);
    return value?.kind === 'number' ? Number(readText(this.bytes, value.start, value.end)) : undefined;
  }

  /** A string that must not be a secret; undefined for another kind. */
  string(...names: readonly string[]): string | undefined {
    return this.text(this.at(...names));
  }

  /** The same of a value that was found. */
  text(value: JsonValue | undefined): string | undefined {
    return value?.kind === 'string' ? readName(this.bytes, value.start, value.end) : undefined;
  }

  isTrue(...names: readonly string[]): boolean {
    const value = this.at(...names);
    return value?.kind === 'boolean' && this.bytes[value.start] === 0x74;
  }
}

/** Removes white space between the tokens of a scanned value, in place. @returns the new end of the value */
export function compact(bytes: Uint8Array, { start, end }: JsonValue): number {
  let to = start;
  let from = start;
  while (from < end) {
    const next = bytes[from] === 0x22 ? scanString(bytes, from) : from + 1;
    if (!isSpace(bytes[from])) {
      if (to < from) bytes.copyWithin(to, from, next);
      to += next - from;
    }
    from = next;
  }
  return to;
}

/** Escapes printable ASCII, which is all that a token may contain, for a JSON string without its quotes. */
export function* escapedRuns(bytes: Uint8Array): Generator<Uint8Array> {
  let start = 0;
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] !== char.quote && bytes[at] !== char.backslash) continue;
    yield bytes.subarray(start, at);
    yield backslash;
    start = at;
  }
  yield bytes.subarray(start);
}

const backslash = Buffer.from('\\');
