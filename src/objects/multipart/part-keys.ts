import { isVaultError } from '../../keyserver/contract.ts';
import type { HangGuard } from '../../keyserver/hang-guard.ts';
import { BoundedMap } from '../../runtime/bounds/bounded-map.ts';
import { within } from '../../runtime/lifecycle/wait.ts';
import type { ObjectName } from '../format/metadata.ts';
import { createKey, type DataKeys, type FreshKey } from '../keys/data-keys.ts';
import { maxPartNumber } from '../s3/request-documents.ts';

/** DEKs for parts of uploads. */
export interface PartKeys {
  /**
   * A key for one use, bound to the part; the caller zeroes it.
   * @throws VaultError; the signal's reason when aborted
   */
  take(name: ObjectName, part: PartOfUpload, signal?: AbortSignal): Promise<FreshKey>;
  /** Wipes the keys held for an upload that has ended. */
  forget(upload: string): void;
  /** Wipes all keys, including those still on their way once they arrive. */
  close(): void;
}

export interface PartOfUpload {
  /** Manifest id. */
  readonly upload: string;
  readonly number: number;
}

/**
 * Requests keys in batches once an upload has turned out to have many parts: together with a part's key, those of the
 * parts that probably follow. A key requested ahead is bound to its part like any other, is handed out once, and
 * encrypts nothing before that.
 * @param options.hangGuard limits the wait for a batch, and for a single key if the batch was refused
 */
export function createPartKeys(
  keys: Pick<DataKeys, 'create'>,
  { ahead, hangGuard }: { ahead: boolean; hangGuard: Patience },
): PartKeys {
  return ahead ? new PartKeysAhead(keys, hangGuard) : new PartKeysAlone(keys);
}

type Patience = Pick<HangGuard, 'patienceMs' | 'tooLate'>;

/** Number of keys an upload must have requested before this process requests any ahead. */
const partsBeforeAhead = 3;
/**
 * Keys of a batch: six for each key ahead that was used since the last batch. So batches grow even where several
 * proxies share an upload's parts, and stay small where parts come in no order.
 */
const batchBounds = { least: 8, most: 128, perUse: 6 };
/** Keys held or on their way. */
const heldBounds = { upload: 256, all: 4096 };
const uploadsKnown = 128;
/** Milliseconds after its request at which an unused key is wiped. */
export const aheadLifeMs = 60_000;

class PartKeysAlone implements PartKeys {
  readonly #keys: Pick<DataKeys, 'create'>;

  constructor(keys: Pick<DataKeys, 'create'>) {
    this.#keys = keys;
  }

  take(name: ObjectName, part: PartOfUpload, signal?: AbortSignal): Promise<FreshKey> {
    return createKey(this.#keys, name, { kind: 'part', ...part }, signal);
  }

  forget(): void {}

  close(): void {}
}

class PartKeysAhead implements PartKeys {
  readonly #keys: Pick<DataKeys, 'create'>;
  readonly #alone: PartKeys;
  readonly #hangGuard: Patience;
  readonly #uploads = new BoundedMap<string, Upload>(uploadsKnown);
  /** Oldest first. */
  readonly #held = new Set<KeyAhead>();
  readonly #closed = new AbortController();

  constructor(keys: Pick<DataKeys, 'create'>, hangGuard: Patience) {
    this.#keys = keys;
    this.#hangGuard = hangGuard;
    this.#alone = new PartKeysAlone(keys);
  }

  async take(name: ObjectName, part: PartOfUpload, signal?: AbortSignal): Promise<FreshKey> {
    signal?.throwIfAborted();
    const upload = this.#uploadOf(part.upload);
    upload.asked++;
    const ahead = upload.claim(part.number);
    if (ahead !== undefined) this.#held.delete(ahead);
    else if (upload.asked <= partsBeforeAhead || upload.refused) return this.#alone.take(name, part, signal);
    const deadline = performance.now() + this.#hangGuard.patienceMs;
    const key = await this.#keyOf(ahead ?? this.#batch(name, part, upload), deadline, signal);
    return key ?? this.#takeUntil(deadline, name, part, signal);
  }

  /** The time spent on the batch counts towards the limit, as with joined calls. */
  async #takeUntil(deadline: number, name: ObjectName, part: PartOfUpload, signal: AbortSignal | undefined) {
    const late = new AbortController();
    const timer = setTimeout(
      () => late.abort(this.#hangGuard.tooLate),
      Math.max(0, deadline - performance.now()),
    );
    const signals = signal === undefined ? [late.signal] : [late.signal, signal];
    try {
      return await this.#alone.take(name, part, AbortSignal.any(signals));
    } finally {
      clearTimeout(timer);
    }
  }

  forget(upload: string): void {
    for (const ahead of this.#uploads.peek(upload)?.ahead.values() ?? []) this.#wipe(ahead);
    this.#uploads.delete(upload);
  }

  close(): void {
    this.#closed.abort();
    for (const ahead of this.#held) this.#wipe(ahead);
  }

  #uploadOf(id: string): Upload {
    const known = this.#uploads.get(id);
    if (known !== undefined) return known;
    if (this.#uploads.size === uploadsKnown) this.#forgetFirst();
    const upload = new Upload();
    this.#uploads.set(id, upload);
    return upload;
  }

  /** Forgetting an upload wipes its keys, which nobody would find or wipe otherwise. */
  #forgetFirst(): void {
    for (const [id] of this.#uploads) return this.forget(id);
  }

  /** @returns the key of `part`, reserved for the caller, from a batch that also brings keys for other parts */
  #batch(name: ObjectName, { upload: id, number }: PartOfUpload, upload: Upload): KeyAhead {
    const numbers = [number, ...upload.likelyNext(number)];
    const purposes = numbers.map((each) => ({ kind: 'part', upload: id, number: each }) as const);
    const created = this.#keys.create(name, purposes, this.#closed.signal);
    const batch = numbers.map((each) => new KeyAhead(each, upload, created));
    for (const ahead of batch.slice(1)) this.#hold(ahead);
    void created.then(
      (keys) => {
        for (const [index, key] of keys.entries()) batch[index]?.arrived(key);
      },
      () => {
        for (const ahead of batch) this.#wipe(ahead);
      },
    );
    setTimeout(() => {
      for (const ahead of batch.slice(1)) if (this.#held.has(ahead)) this.#wipe(ahead);
    }, aheadLifeMs).unref();
    return batch[0] as KeyAhead;
  }

  #hold(ahead: KeyAhead): void {
    const { upload } = ahead;
    upload.ahead.set(ahead.number, ahead);
    this.#held.add(ahead);
    if (upload.ahead.size > heldBounds.upload) this.#wipeFirst(upload.ahead.values());
    if (this.#held.size > heldBounds.all) this.#wipeFirst(this.#held.values());
  }

  #wipeFirst(oldestFirst: Iterable<KeyAhead>): void {
    for (const oldest of oldestFirst) return this.#wipe(oldest);
  }

  #wipe(ahead: KeyAhead): void {
    ahead.wipe();
    this.#held.delete(ahead);
    if (ahead.upload.ahead.get(ahead.number) === ahead) ahead.upload.ahead.delete(ahead.number);
  }

  /**
   * Undefined if the key has to be requested alone, since another key of the batch may have caused the refusal. A
   * caller that disconnects, or whose deadline passes, leaves the batch to the others.
   */
  async #keyOf(ahead: KeyAhead, deadline: number, signal: AbortSignal | undefined) {
    try {
      await within(ahead.created, deadline, signal, () => this.#hangGuard.tooLate);
      return ahead.take();
    } catch (error) {
      ahead.wipe();
      if (signal?.aborted || !isVaultError(error) || error.kind === 'unavailable') throw error;
      ahead.upload.refused = true;
      return undefined;
    }
  }
}

/** State of one upload in this process. */
class Upload {
  asked = 0;
  /** The key server refused a batch. */
  refused = false;
  /** Keys by part number, oldest first. */
  readonly ahead = new Map<number, KeyAhead>();
  /** For each part number, whether a key was requested. */
  readonly #seen = new Uint8Array(maxPartNumber + 1);
  #used = 0;
  #lastBatchAt = 0;

  /** Takes the key ahead of a part, so that nobody else gets it. */
  claim(number: number): KeyAhead | undefined {
    this.#seen[number] = 1;
    const ahead = this.ahead.get(number);
    if (ahead === undefined) return undefined;
    this.ahead.delete(number);
    this.#used++;
    return ahead;
  }

  /** Parts without a key, nearest first, in the direction of the upload and then in the opposite one. */
  likelyNext(number: number): number[] {
    const { least, most, perUse } = batchBounds;
    const count = Math.min(most, Math.max(least, this.#used * perUse)) - 1;
    const step = number < this.#lastBatchAt ? -1 : 1;
    const next: number[] = [];
    this.#lastBatchAt = number;
    this.#used = 0;
    this.#collect(number, step, count, next);
    this.#collect(number, -step, count, next);
    for (const each of next) this.#seen[each] = 1;
    return next;
  }

  #collect(from: number, step: number, count: number, into: number[]): void {
    for (let each = from + step; each >= 1 && each <= maxPartNumber && into.length < count; each += step)
      if (this.#seen[each] === 0) into.push(each);
  }
}

/** A key of a batch, from the request on. */
class KeyAhead {
  readonly number: number;
  readonly upload: Upload;
  /** Settles with the batch. */
  readonly created: Promise<unknown>;
  #key: FreshKey | undefined;
  #wiped = false;

  constructor(number: number, upload: Upload, created: Promise<unknown>) {
    this.number = number;
    this.upload = upload;
    this.created = created;
  }

  arrived(key: FreshKey): void {
    if (this.#wiped) key.key.fill(0);
    else this.#key = key;
  }

  /** Undefined after a wipe. */
  take(): FreshKey | undefined {
    const key = this.#key;
    this.#key = undefined;
    return key;
  }

  wipe(): void {
    this.#wiped = true;
    this.take()?.key.fill(0);
  }
}
