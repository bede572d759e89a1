import type { EnvelopeFormat } from './manifest.ts';

/** What is to be found out by recovery keys alone; nothing is written, and no key server is asked. */
export interface RehearsalPlan {
  readonly bucket: string;
  /** Of the keys of the objects that are sampled; empty: all. */
  readonly prefix: string;
  /** Objects that are chosen at random, beside the oldest, the newest and the largest. */
  readonly sample: number;
  /** Stored bytes up to which the body of an object, or of a part in format 1, is read. */
  readonly readWhole: number;
  readonly signal: AbortSignal;
  /** @param opened objects of the sample that were looked at so far */
  readonly onProgress: (listed: number, opened: number) => void;
}

/** What recovery keys have opened alone. */
export interface RecoveryRehearsal {
  /** Objects below the prefix, without helper objects. */
  readonly listed: number;
  readonly opened: readonly RehearsedObject[];
  /** Sampled objects that svc did not encrypt. */
  readonly unencrypted: number;
  /** Sampled objects that were deleted before they were looked at. */
  readonly gone: number;
  /** Sampled objects that the credentials may not read. */
  readonly denied: number;
  readonly faults: readonly RehearsalFault[];
  /** What ended it before all of the sample was looked at. */
  readonly endedBy: Error | undefined;
}

/** How much of a body was found authentic: all of it, its beginning and its end, or nothing beyond its keys. */
export type RehearsedDepth = 'whole' | 'ends' | 'keys';

export interface RehearsedObject {
  readonly key: string;
  readonly format: EnvelopeFormat;
  /** Of a multipart object. */
  readonly parts?: number;
  readonly depth: RehearsedDepth;
}

/** An object that does not open. */
export interface RehearsalFault {
  readonly key: string;
  /** Of the envelope or the store: a stable word. */
  readonly reason: string;
  readonly message: string;
}

interface Listed {
  /** Stored bytes. */
  readonly stored: number;
  /** A date in ISO 8601. */
  readonly modified: string;
}

/**
 * A sample of a listing of any length, in which each object is as likely as each other. The oldest, the newest and the largest
 * are added: they tell of the time before recovery keys were set, of the proxies that write now, and of part lists.
 */
export class RehearsalSample<T extends Listed> {
  readonly #size: number;
  readonly #random: (below: number) => number;
  readonly #chosen: T[] = [];
  #seen = 0;
  #oldest: T | undefined;
  #newest: T | undefined;
  #largest: T | undefined;

  /** @param random gives an integer from 0 on that is less than its argument, each with the same probability */
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

  /** Each once. */
  get entries(): readonly T[] {
    const apart = [this.#oldest, this.#newest, this.#largest].filter((one) => one !== undefined);
    return [...new Set([...this.#chosen, ...apart])];
  }
}
