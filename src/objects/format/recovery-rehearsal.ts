import type { EnvelopeFormat } from './manifest.ts';

/** Tests what recovery keys alone can open; writes nothing and asks no key server. */
export interface RehearsalPlan {
  readonly bucket: string;
  /** Key prefix of the sampled objects; empty: all. */
  readonly prefix: string;
  /** Number of random objects, besides the oldest, the newest and the largest. */
  readonly sample: number;
  /** Stored bytes up to which the body of an object, or of a part in format 1, is read in full. */
  readonly readWhole: number;
  readonly signal: AbortSignal;
  /** @param opened number of sampled objects processed so far */
  readonly onProgress: (listed: number, opened: number) => void;
}

/** What recovery keys alone could open. */
export interface RecoveryRehearsal {
  /** Objects below the prefix, without helper objects. */
  readonly listed: number;
  readonly opened: readonly RehearsedObject[];
  /** Sampled objects that svc did not encrypt. */
  readonly unencrypted: number;
  /** Sampled objects that were deleted before they could be read. */
  readonly gone: number;
  /** Sampled objects that the credentials may not read. */
  readonly denied: number;
  readonly faults: readonly RehearsalFault[];
  /** The error that ended the rehearsal early. */
  readonly endedBy: Error | undefined;
}

/** Extent of a body that was authenticated: the whole, its beginning and end, or only its keys. */
export type RehearsedDepth = 'whole' | 'ends' | 'keys';

export interface RehearsedObject {
  readonly key: string;
  readonly format: EnvelopeFormat;
  /** Number of parts of a multipart object. */
  readonly parts?: number;
  readonly depth: RehearsedDepth;
}

/** An object that could not be opened. */
export interface RehearsalFault {
  readonly key: string;
  /** Stable code of the failure in the envelope or the store. */
  readonly reason: string;
  readonly message: string;
}

interface Listed {
  /** Stored bytes. */
  readonly stored: number;
  /** ISO 8601. */
  readonly modified: string;
}

/**
 * A uniform random sample of a listing of any length, plus the oldest, the newest and the largest object: these
 * represent the time before recovery keys, the proxies that write now, and part lists.
 */
export class RehearsalSample<T extends Listed> {
  readonly #size: number;
  readonly #random: (below: number) => number;
  readonly #chosen: T[] = [];
  #seen = 0;
  #oldest: T | undefined;
  #newest: T | undefined;
  #largest: T | undefined;

  /** @param random returns a uniformly distributed integer from 0 to below its argument */
  constructor(size: number, random: (below: number) => number) {
    this.#size = size;
    this.#random = random;
  }

  add(one: T): void {
    this.#seen++;
    if (this.#chosen.length < this.#size) this.#chosen.push(one);
    else {
      const place = this.#random(this.#seen);
      if (place < this.#size) this.#chosen[place] = one;
    }
    if (this.#oldest === undefined || one.modified < this.#oldest.modified) this.#oldest = one;
    if (this.#newest === undefined || one.modified > this.#newest.modified) this.#newest = one;
    if (this.#largest === undefined || one.stored > this.#largest.stored) this.#largest = one;
  }

  get seen(): number {
    return this.#seen;
  }

  /** Without duplicates. */
  get entries(): readonly T[] {
    const apart = [this.#oldest, this.#newest, this.#largest].filter((one) => one !== undefined);
    return [...new Set([...this.#chosen, ...apart])];
  }
}
