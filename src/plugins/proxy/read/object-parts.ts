import type { PartEntry, PartList } from '../../../core/envelope/manifest.ts';
import type { PartSlice } from '../../../core/s3/range.ts';
import type { ResponseBody } from '../../../runtime/net/http1-response-body.ts';
import type { DataKeys } from '../data-keys.ts';
import { noRoom, strictFile } from './body/open-body.ts';
import { sealedPart, type TakeKey } from './body/sealed-body.ts';
import { type Spool, type SpooledBody, spoolBody, spooledSlice } from './body/spool.ts';
import { type SpoolFile, SpoolUnavailable } from './body/spool-file.ts';
import type { ByteRange, StoredObject } from './stored-object.ts';

/** Bodies up to this many bytes are fetched anew for each range; larger ones go through the spool. */
export const spoolFrom = 1024 * 1024;

export interface WantedPart {
  readonly entry: PartEntry;
  readonly slice: PartSlice;
}

/** Parts that lie side by side in the stored object and are fetched by one request. */
export interface PartRun {
  readonly stored: ByteRange;
  readonly parts: readonly WantedPart[];
  /** The run is one part of which only a slice is wanted, and others may want the rest. */
  readonly shared: boolean;
}

/** How the parts that cover a range are fetched. */
export function partRuns(entries: readonly PartEntry[], slices: readonly PartSlice[]): PartRun[] {
  const runs: { parts: WantedPart[]; shared: boolean }[] = [];
  for (const slice of slices) {
    const entry = entries[slice.index] as PartEntry;
    const shared = slice.take < entry.size && entry.size > spoolFrom;
    const last = runs.at(-1);
    if (last === undefined || last.shared || shared) runs.push({ parts: [{ entry, slice }], shared });
    else last.parts.push({ entry, slice });
  }
  return runs.map((run) => ({ ...run, stored: extent(run.parts) }));
}

/** All of them by one request. */
export function oneRun(entries: readonly PartEntry[], slices: readonly PartSlice[]): PartRun {
  const parts = slices.map((slice) => ({ entry: entries[slice.index] as PartEntry, slice }));
  return { parts, shared: false, stored: extent(parts) };
}

function extent(parts: readonly WantedPart[]): ByteRange {
  const first = parts[0] as WantedPart;
  const last = parts.at(-1) as WantedPart;
  return { start: first.slice.cipherStart, end: last.slice.cipherEnd };
}

/** Parts whose DEKs are unwrapped by one request to the key server. */
const window = 64;

/** DEKs of the parts that a read will need, unwrapped a window ahead, each given out once. */
export class UnwrappedPartKeys {
  readonly #keys: DataKeys;
  readonly #object: StoredObject;
  readonly #list: PartList;
  readonly #signal: AbortSignal;
  readonly #ahead: PartEntry[];
  readonly #unwrapped = new Map<number, Buffer>();
  #closed = false;

  constructor(
    keys: DataKeys,
    object: StoredObject,
    list: PartList,
    wanted: readonly PartEntry[],
    signal: AbortSignal,
  ) {
    this.#keys = keys;
    this.#object = object;
    this.#list = list;
    this.#signal = signal;
    this.#ahead = [...wanted];
  }

  /** Parts are to be asked for in the order of `wanted`. */
  of(part: PartEntry): TakeKey {
    return async () => {
      if (!this.#unwrapped.has(part.n)) await this.#advance();
      const key = this.#unwrapped.get(part.n);
      if (key === undefined) throw new TypeError(`part ${part.n} was not announced`);
      this.#unwrapped.delete(part.n);
      return key;
    };
  }

  /** Zeroes what was not taken. */
  close(): void {
    this.#closed = true;
    for (const key of this.#unwrapped.values()) key.fill(0);
    this.#unwrapped.clear();
  }

  async #advance(): Promise<void> {
    const parts = this.#ahead.splice(0, window);
    const upload = this.#list.manifest;
    const items = parts.map(({ n, dek }) => ({
      wrapped: dek,
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
 * The slices of parts that `reader` stands before, the first of which begins only after the last part was
 * found authentic too. Their ciphertext waits on disk; their keys are unwrapped once for each of the two passes.
 * @throws S3Error SlowDown when the parts do not fit on disk together
 */
export async function* verifiedParts(
  spool: Spool,
  reader: ResponseBody,
  wanted: readonly WantedPart[],
  openKeys: () => UnwrappedPartKeys,
): AsyncGenerator<Buffer, void> {
  const file = await strictFile(
    spool,
    wanted.reduce((sum, { entry }) => sum + entry.size, 0),
  );
  try {
    const bodies = await withKeys(openKeys, (keys) => spoolAll(file, reader, wanted, keys));
    const keys = openKeys();
    try {
      for (const [index, { entry, slice }] of wanted.entries())
        yield* spooledSlice(bodies[index] as SpooledBody, slice, keys.of(entry));
    } finally {
      keys.close();
    }
  } catch (error) {
    throw error instanceof SpoolUnavailable ? noRoom(error) : error;
  } finally {
    file.close();
  }
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
  wanted: readonly WantedPart[],
  keys: UnwrappedPartKeys,
): Promise<SpooledBody[]> {
  const bodies: SpooledBody[] = [];
  for (const { entry } of wanted)
    bodies.push(await spoolBody(reader, sealedPart(entry), keys.of(entry), file));
  return bodies;
}
