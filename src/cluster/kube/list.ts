import { CollectedBytes } from '../../runtime/bounds/collect.ts';
import { isSpace } from '../../runtime/bounds/json-document.ts';
import {
  asObject,
  hasCode,
  isText,
  type KubeClient,
  KubeError,
  type KubeObject,
  member,
  parseJson,
} from './client.ts';
import { outlineOfObject, readJson } from './read-object.ts';

/**
 * Only one object at a time is in memory as text and tree, never a page, so the page length only matters to the API
 * server.
 */
const pageSize = 500;
/** Objects are at most 1.5 MiB in etcd; `<` takes six bytes in the JSON of an API server. */
export const largestObject = 10 * 1024 * 1024;
/** In a row. An API server fills its pages, whatever it leaves out. */
const maxEmptyPages = 100;
const cutLimits = { mostOfElement: largestObject, mostOfRest: 1024 * 1024 };

/**
 * Lists page by page, passing each object to `onObject` before reading the next.
 * @param onOutline gets the outlines of objects that are too large to be built; without it, these are built
 * @returns the version from which a watch continues
 * @throws KubeError; objects passed until then are valid
 */
export async function listAll<O extends KubeObject>(
  client: KubeClient,
  selection: Selection,
  onObject: (object: O) => void,
  signal: AbortSignal,
  onOutline?: (outline: O) => void,
): Promise<string> {
  const large = onOutline === undefined ? 'whole' : 'outlined';
  const what = `GET ${selection.path}`;
  const take = (bytes: Buffer) => {
    const { value, isOutline } = readJson(what, bytes, outlineOfObject, large);
    const object = asObject<O>(value);
    if (isOutline) onOutline?.(object);
    else onObject(object);
  };
  let next: string | undefined;
  let page: Page;
  let emptyPages = 0;
  do {
    const former = next;
    page = await client.read(listRequest(selection, next, signal), (body) => readPage(what, body, take));
    next = page.next;
    emptyPages = page.count === 0 ? emptyPages + 1 : 0;
    if (next !== undefined && (next === former || emptyPages > maxEmptyPages))
      throw new KubeError('KUBE_PROTOCOL', `${what}: the list has page after page without end`);
  } while (next !== undefined);
  return page.version;
}

const maxBeginnings = 3;

/**
 * What `keep` makes of every object, but for undefined; it sees what was kept so far. Begins again where the API server has forgotten the place
 * within the list (410), as after a pause.
 * @param onOutline as of `listAll`
 * @throws KubeError
 */
export async function collectAll<O extends KubeObject, T>(
  client: KubeClient,
  selection: Selection,
  keep: (object: O, found: readonly T[]) => T | undefined,
  signal: AbortSignal,
  onOutline?: (outline: O) => void,
): Promise<T[]> {
  for (let begun = 1; ; begun++) {
    const found: T[] = [];
    const take = (object: O) => {
      const kept = keep(object, found);
      if (kept !== undefined) found.push(kept);
    };
    try {
      await listAll<O>(client, selection, take, signal, onOutline);
      return found;
    } catch (error) {
      if (!hasCode(error, 'KUBE_GONE') || begun === maxBeginnings) throw error;
    }
  }
}

function listRequest(selection: Selection, next: string | undefined, signal: AbortSignal) {
  const { path, fieldSelector, labelSelector } = selection;
  const query = { fieldSelector, labelSelector, limit: pageSize, continue: next };
  return { path, query, accept: acceptFor(selection, 'list'), signal };
}

interface Page {
  readonly version: string;
  readonly next: string | undefined;
  readonly count: number;
}

async function readPage(
  what: string,
  body: AsyncIterable<Buffer>,
  onItem: (item: Buffer) => void,
): Promise<Page> {
  const cutter = new ArrayCutter('items', cutLimits);
  for await (const chunk of body) for (const item of cutter.push(chunk)) onItem(item);
  // each value takes a byte at least
  const rest = parseJson(what, cutter.rest(), cutLimits.mostOfRest);
  return pageOf(what, rest, cutter.count);
}

/** @param count number of items that were cut out; the list must not have others */
function pageOf(what: string, rest: unknown, count: number): Page {
  const { resourceVersion, continue: next } = member(rest, 'metadata');
  const items = (rest as { items?: unknown } | null)?.items ?? [];
  if (!isText(resourceVersion) || !Array.isArray(items) || items.length !== count) {
    throw new KubeError('KUBE_PROTOCOL', `${what}: the answer is not a list`);
  }
  return { version: resourceVersion, next: isText(next) ? next : undefined, count };
}

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const nothing = Buffer.alloc(0);

export interface CutLimits {
  /** Bytes of one element, and of everything outside elements. */
  readonly mostOfElement: number;
  readonly mostOfRest: number;
}

/**
 * Cuts the elements out of an array member of a JSON object while it is being read, so that neither the object's text
 * nor its tree is ever complete in memory. It only counts brackets; invalid JSON is detected when the elements and the
 * rest are parsed.
 */
export class ArrayCutter {
  /** Elements so far; the rest contains a 0 for each. */
  count = 0;
  readonly #member: Buffer;
  readonly #limits: CutLimits;
  /** Latin-1, so that characters may be split anywhere. */
  #rest = '';
  #element: CollectedBytes | undefined;
  #within = false;
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** In a string that may name the member: number of matching bytes, -1 after a mismatch. */
  #same = -1;
  #named = false;

  constructor(member: string, limits: CutLimits) {
    this.#member = Buffer.from(member);
    this.#limits = limits;
  }

  /** The elements that end in the chunk, each valid until the next. @throws KubeError KUBE_PROTOCOL for an element that is too long */
  *push(chunk: Buffer): Generator<Buffer> {
    let from = 0;
    for (let at = 0; at < chunk.length; at++) {
      if (this.#inString) {
        at = this.#passText(chunk, at);
        continue;
      }
      const byte = chunk[at] as number;
      if (!this.#within) {
        if (!this.#passRest(byte)) continue;
        this.#keepRest(chunk.subarray(from, at + 1));
        from = at + 1;
      } else if (this.#endsElement(byte)) {
        const element = this.#takeElement(chunk.subarray(from, at));
        if (element !== undefined) yield element;
        from = at;
        if (byte === comma) this.#keepRest(chunk.subarray(at, ++from));
        else this.#within = false;
      }
    }
    const left = chunk.subarray(from);
    if (this.#within) this.#keepElement(left);
    else this.#keepRest(left);
  }

  /** Everything except the elements, as text. */
  rest(): string {
    const rest = Buffer.from(this.#rest, 'latin1');
    return Buffer.concat([rest, this.#element?.take() ?? nothing]).toString('utf8');
  }

  /** Offset of the end of the string or chunk. */
  #passText(chunk: Buffer, from: number): number {
    let at = from;
    for (; at < chunk.length; at++) {
      const byte = chunk[at] as number;
      if (this.#escaped) this.#escaped = false;
      else if (byte === quote) break;
      else if (byte === backslash) this.#escaped = true;
      if (this.#same >= 0) this.#same = byte === this.#member[this.#same] ? this.#same + 1 : -1;
    }
    if (at < chunk.length) this.#endText();
    return at;
  }

  #endText(): void {
    this.#inString = false;
    this.#named = this.#same === this.#member.length;
  }

  /** Whether this byte begins the array. */
  #passRest(byte: number): boolean {
    if (byte === quote) this.#beginText(this.#depth === 1);
    else if (byte === openBracket && this.#named && this.#depth === 1) {
      this.#within = true;
      this.#named = false;
      return true;
    } else this.#count(byte);
    // only a colon and white space may separate a name from its value
    if (byte > 0x20 && byte !== colon) this.#named = false;
    return false;
  }

  #beginText(mayName: boolean): void {
    this.#inString = true;
    this.#same = mayName ? 0 : -1;
  }

  #count(byte: number): void {
    if (byte === openBrace || byte === openBracket) this.#depth++;
    else if (byte === closeBrace || byte === closeBracket) this.#depth--;
  }

  #endsElement(byte: number): boolean {
    if (this.#depth === 1 && (byte === comma || byte === closeBracket)) return true;
    if (byte === quote) this.#beginText(false);
    else this.#count(byte);
    return false;
  }

  /** Undefined if there is only white space, as in an empty array. */
  #takeElement(end: Buffer): Buffer | undefined {
    refuseOver(this.#limits.mostOfElement, (this.#element?.size ?? 0) + end.length);
    this.#element?.add(end);
    const element = this.#element?.take() ?? end;
    this.#element = undefined;
    if (element.every(isSpace)) return undefined;
    this.count++;
    this.#rest += '0';
    return element;
  }

  #keepElement(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#element ??= new CollectedBytes();
    refuseOver(this.#limits.mostOfElement, this.#element.size + bytes.length);
    this.#element.add(bytes);
  }

  #keepRest(bytes: Buffer): void {
    this.#rest += bytes.toString('latin1');
    refuseOver(this.#limits.mostOfRest, this.#rest.length);
  }
}

function refuseOver(most: number, size: number): void {
  if (size > most) throw new KubeError('KUBE_PROTOCOL', `A part of a list has over ${most} bytes`);
}

/** Selects objects, and how much of each. */
export interface Selection {
  /** Path of the collection: `/api/v1/pods`. */
  readonly path: string;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
  /** Requests only the objects' metadata, which saves the API server and us the rest. */
  readonly metadataOnly?: boolean;
}

/** The `Accept` header for a selection. */
export function acceptFor({ metadataOnly = false }: Selection, kind: 'list' | 'watch'): string {
  if (!metadataOnly) return 'application/json';
  return kind === 'list' ? metadataAs('PartialObjectMetadataList') : acceptMetadata;
}

function metadataAs(kind: string): string {
  return `application/json;as=${kind};g=meta.k8s.io;v=v1`;
}

/** The `Accept` header for a single object whose metadata suffice. */
export const acceptMetadata = metadataAs('PartialObjectMetadata');
