import { type JsonValue, readDocument, readText, visitItems, visitMembers } from './json-document.ts';

/** What is read of a JSON text that is too large to be built. */
export type Outline =
  /** A value of at most so many bytes; an empty one of its kind stands for a longer list or object. */
  | number
  | { readonly kind: 'members'; readonly of: ReadonlyMap<string, Outline> }
  | { readonly kind: 'items'; readonly of: Outline; readonly max: number };

/** Those members of an object that are named, in ASCII; a name that the text writes with escapes is not known. */
export const members = (of: Readonly<Record<string, Outline>>): Outline => ({
  kind: 'members',
  of: new Map(Object.entries(of)),
});

/** The first `max` items of a list. */
export const items = (max: number, of: Outline): Outline => ({ kind: 'items', of, max });

/**
 * Builds no more of a JSON text than the outline says, however large the rest is. If a name repeats, its last value
 * counts.
 * @returns undefined for a value of another kind than the outline's
 * @throws JsonError unless the bytes are exactly one JSON text in UTF-8
 */
export function readOutline(bytes: Uint8Array, outline: Outline): unknown {
  return outlineOf(bytes, readDocument(bytes), outline);
}

function outlineOf(bytes: Uint8Array, value: JsonValue, outline: Outline): unknown {
  if (typeof outline === 'number') return smallValue(bytes, value, outline);
  if (outline.kind === 'items')
    return value.kind === 'array' ? itemsOf(bytes, value, outline.of, outline.max) : undefined;
  return value.kind === 'object' ? membersOf(bytes, value, outline.of) : undefined;
}

function smallValue(bytes: Uint8Array, { kind, start, end }: JsonValue, maxBytes: number): unknown {
  if (end - start <= maxBytes) return JSON.parse(readText(bytes, start, end));
  if (kind === 'array') return [];
  return kind === 'object' ? {} : undefined;
}

function itemsOf(bytes: Uint8Array, { start }: JsonValue, of: Outline, max: number): unknown[] {
  const found: unknown[] = [];
  visitItems(bytes, start, (item) => found.push(outlineOf(bytes, item, of)) < max);
  return found;
}

function membersOf(bytes: Uint8Array, { start }: JsonValue, of: ReadonlyMap<string, Outline>): object {
  const found = new Map<string, unknown>();
  visitMembers(bytes, start, (nameStart, nameEnd, value) => {
    const name = nameAmong(of, bytes, nameStart, nameEnd);
    const outline = name === undefined ? undefined : of.get(name);
    if (name !== undefined && outline !== undefined) found.set(name, outlineOf(bytes, value, outline));
    return true;
  });
  return Object.fromEntries(found);
}

/** Compared as bytes: there may be hundreds of thousands of other names. */
function nameAmong(
  names: ReadonlyMap<string, Outline>,
  bytes: Uint8Array,
  start: number,
  end: number,
): string | undefined {
  for (const name of names.keys()) if (isName(name, bytes, start, end)) return name;
  return undefined;
}

function isName(name: string, bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start - 2 !== name.length) return false;
  for (let at = 0; at < name.length; at++) if (bytes[start + 1 + at] !== name.charCodeAt(at)) return false;
  return true;
}
