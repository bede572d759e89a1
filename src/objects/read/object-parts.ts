import type { PartEntry } from '../format/body-format.ts';
import type { PartList } from '../format/manifest.ts';
import type { DataKeys } from '../keys/data-keys.ts';
import type { ResponseBody } from '../net/http1-response-body.ts';
import { coveringParts, type PartSlice } from '../s3/range.ts';
import { noRoom, strictFile } from './body/open-body.ts';
import { type BodySlice, sealedPart, spoolBody, spooledSlice, type TakeKey } from './body/sealed-body.ts';
import { type Spool, type SpooledBody, type SpoolFile, SpoolUnavailable } from './body/spool.ts';
import type { ByteRange, ObjectLayout, StoredObject } from './stored-object.ts';

/** Plaintext bytes up to which a part is fetched anew for each range; larger ones go through the spool. */
export const spoolFrom = 1024 * 1024;

export interface WantedPart {
  readonly entry: PartEntry;
  readonly slice: BodySlice;
}

/** Adjacent parts, created on demand and anew by each iteration. */
export interface WantedParts extends Iterable<WantedPart> {
  /** Positions in the part list; `end` is exclusive. */
  readonly first: number;
  readonly end: number;
}

/** Adjacent parts of the stored object that are fetched by one request. */
export interface PartRun {
  readonly stored: ByteRange;
  readonly parts: WantedParts;
  /** The run is a slice of a single part, and other readers may want the rest of it. */
  readonly shared: boolean;
}

/** The part list of an object in format 1. */
export function wholePartList({ list }: ObjectLayout): PartList {
  if (list === undefined || list.format === 2) throw new TypeError('the object has no part list in format 1');
  return list;
}

/** All parts, in full. */
export const wholeParts = (entries: readonly PartEntry[]): WantedParts => ({
  first: 0,
  end: entries.length,
  *[Symbol.iterator]() {
    for (const entry of entries) yield { entry, slice: { skip: 0, take: entry.size } };
  },
});

/** Groups the parts that cover a range into requests; `together`: a single request. */
export function* partRuns(
  entries: readonly PartEntry[],
  range: ByteRange,
  together = false,
): Generator<PartRun, void> {
  let run: { first: PartSlice; last: PartSlice; shared: boolean } | undefined;
  for (const slice of coveringParts(entries, range)) {
    const { size } = entries[slice.index] as PartEntry;
    const shared = !together && slice.take < size && size > spoolFrom;
    if (run !== undefined && !run.shared && !shared) run = { ...run, last: slice };
    else {
      if (run !== undefined) yield partRun(entries, range, run);
      run = { first: slice, last: slice, shared };
    }
  }
  if (run !== undefined) yield partRun(entries, range, run);
}

function partRun(
  entries: readonly PartEntry[],
  range: ByteRange,
  { first, last, shared }: { first: PartSlice; last: PartSlice; shared: boolean },
): PartRun {
  const parts: WantedParts = {
    first: first.index,
    end: last.index + 1,
    *[Symbol.iterator]() {
      for (const slice of coveringParts(entries, range)) {
        if (slice.index > last.index) return;
        if (slice.index >= first.index) yield { entry: entries[slice.index] as PartEntry, slice };
      }
    },
  };
  return { parts, shared, stored: { start: first.cipherStart, end: last.cipherEnd } };
}

/** Number of part DEKs unwrapped by one request to the key server. */
const window = 64;

/** DEKs of the parts of a read, unwrapped a window ahead; each is handed out once. */
export class UnwrappedPartKeys {
  readonly #keys: DataKeys;
  readonly #object: StoredObject;
  readonly #list: PartList;
  readonly #signal: AbortSignal;
  readonly #end: number;
  #next: number;
  readonly #unwrapped = new Map<number, Buffer>();
  #closed = false;

  constructor(
    keys: DataKeys,
    object: StoredObject,
    list: PartList,
    { first, end }: Pick<WantedParts, 'first' | 'end'>,
    signal: AbortSignal,
  ) {
    this.#keys = keys;
    this.#object = object;
    this.#list = list;
    this.#signal = signal;
    this.#next = first;
    this.#end = end;
  }

  /** Parts must be requested in list order. */
  of(part: PartEntry): TakeKey {
    return async () => {
      if (!this.#unwrapped.has(part.n)) await this.#advance();
      const key = this.#unwrapped.get(part.n);
      if (key === undefined) throw new TypeError(`part ${part.n} was not announced`);
      this.#unwrapped.delete(part.n);
      return key;
    };
  }

  /** Zeroes keys that were not taken. */
  close(): void {
    this.#closed = true;
    for (const key of this.#unwrapped.values()) key.fill(0);
    this.#unwrapped.clear();
  }

  async #advance(): Promise<void> {
    const parts = this.#list.parts.slice(this.#next, Math.min(this.#next + window, this.#end));
    this.#next += parts.length;
    const upload = this.#list.manifest;
    const items = parts.map(({ n, dek, recovery }) => ({
      wrapped: dek,
      recovery,
      purpose: { kind: 'part', upload, number: n } as const,
    }));
    const { envelope, name } = this.#object;
    if (envelope === undefined) throw new TypeError('the object has no keys');
    const keys = await this.#keys.unwrap(name, envelope, items, this.#signal);
    if (this.#closed) {
      for (const key of keys) key.fill(0);
      return;
    }
    for (const [index, part] of parts.entries()) this.#unwrapped.set(part.n, keys[index] as Buffer);
  }
}

/**
 * Reads slices of parts from `reader`; the first slice is yielded only after the last part was verified too. The
 * ciphertext waits on disk, and the keys are unwrapped once for each of the two passes.
 * @throws S3Error SlowDown if the parts do not fit on disk together
 */
export async function* verifiedParts(
  spool: Spool,
  reader: ResponseBody,
  wanted: WantedParts,
  openKeys: () => UnwrappedPartKeys,
): AsyncGenerator<Buffer, void> {
  const file = await strictFile(spool, bytesOf(wanted));
  try {
    const bodies = await withKeys(openKeys, (keys) => spoolAll(file, reader, wanted, keys));
    const keys = openKeys();
    try {
      let index = 0;
      for (const { entry, slice } of wanted)
        yield* spooledSlice(bodies[index++] as SpooledBody, slice, keys.of(entry));
    } finally {
      keys.close();
    }
  } catch (error) {
    throw error instanceof SpoolUnavailable ? noRoom(error) : error;
  } finally {
    file.close();
  }
}

/** Plaintext bytes of the parts in full. */
export function bytesOf(parts: WantedParts): number {
  let bytes = 0;
  for (const { entry } of parts) bytes += entry.size;
  return bytes;
}

async function withKeys<T>(
  openKeys: () => UnwrappedPartKeys,
  use: (keys: UnwrappedPartKeys) => Promise<T>,
): Promise<T> {
  const keys = openKeys();
  try {
    return await use(keys);
  } finally {
    keys.close();
  }
}

async function spoolAll(
  file: SpoolFile,
  reader: ResponseBody,
  wanted: WantedParts,
  keys: UnwrappedPartKeys,
): Promise<SpooledBody[]> {
  const bodies: SpooledBody[] = [];
  for (const { entry } of wanted)
    bodies.push(await spoolBody(reader, sealedPart(entry), keys.of(entry), file));
  return bodies;
}
