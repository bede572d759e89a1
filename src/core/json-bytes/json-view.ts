import { JsonError } from './json-error.ts';
import type { JsonMember, JsonValue } from './json-value.ts';
import { readArray, readDocument, readName, readObject, readText } from './read-document.ts';

/** A JSON text that is looked at in place, by paths of names. */
export class JsonView {
  readonly bytes: Uint8Array;
  readonly root: JsonValue;
  readonly #objects = new Map<number, readonly JsonMember[]>();

  /** @throws JsonError unless the bytes are one whole JSON text in UTF-8 */
  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.root = readDocument(bytes);
  }

  /** What stands at the end of the path, or undefined where a name or an object is missing. */
  at(...names: readonly string[]): JsonValue | undefined {
    let found: JsonValue | undefined = this.root;
    for (const name of names) {
      if (found?.kind !== 'object') return undefined;
      found = this.members(found).find((member) => member.name === name);
    }
    return found;
  }

  /** @throws JsonError for what is no object */
  members(object: JsonValue): readonly JsonMember[] {
    if (object.kind !== 'object') throw new JsonError(object.start, 'an object');
    const known = this.#objects.get(object.start);
    if (known !== undefined) return known;
    const members = readObject(this.bytes, object.start);
    this.#objects.set(object.start, members);
    return members;
  }

  /** @throws JsonError for what is no array */
  items(array: JsonValue): readonly JsonValue[] {
    return readArray(this.bytes, array.start);
  }

  /** A number that is no secret; undefined for another kind. */
  number(...names: readonly string[]): number | undefined {
    const value = this.at(...names);
    return value?.kind === 'number' ? Number(readText(this.bytes, value.start, value.end)) : undefined;
  }

  /** A string that is no secret; undefined for another kind. */
  string(...names: readonly string[]): string | undefined {
    const value = this.at(...names);
    return value?.kind === 'string' ? readName(this.bytes, value.start, value.end) : undefined;
  }

  isTrue(...names: readonly string[]): boolean {
    const value = this.at(...names);
    return value?.kind === 'boolean' && this.bytes[value.start] === 0x74;
  }
}
