import { randomInt } from 'node:crypto';

/** Returns a uniformly distributed integer from 0 to below its argument. */
type Random = (below: number) => number;

/** A uniform random sample of a listing of any length. */
export class RandomSample<T> {
  readonly #size: number;
  readonly #random: Random;
  readonly #chosen: T[] = [];
  #seen = 0;

  constructor(size: number, random: Random = randomInt) {
    this.#size = size;
    this.#random = random;
  }

  add(one: T): void {
    this.#seen++;
    const place = this.#chosen.length < this.#size ? this.#chosen.length : this.#random(this.#seen);
    if (place < this.#size) this.#chosen[place] = one;
  }

  get seen(): number {
    return this.#seen;
  }

  get entries(): readonly T[] {
    return this.#chosen;
  }
}

interface Listed {
  /** Stored bytes. */
  readonly stored: number;
  /** ISO 8601. */
  readonly modified: string;
}

/**
 * A random sample plus the oldest, the newest and the largest object: these represent the time before recovery keys,
 * the proxies that write now, and part lists.
 */
export class RehearsalSample<T extends Listed> extends RandomSample<T> {
  #oldest: T | undefined;
  #newest: T | undefined;
  #largest: T | undefined;

  override add(one: T): void {
    super.add(one);
    if (this.#oldest === undefined || one.modified < this.#oldest.modified) this.#oldest = one;
    if (this.#newest === undefined || one.modified > this.#newest.modified) this.#newest = one;
    if (this.#largest === undefined || one.stored > this.#largest.stored) this.#largest = one;
  }

  /** Without duplicates. */
  override get entries(): readonly T[] {
    const apart = [this.#oldest, this.#newest, this.#largest].filter((one) => one !== undefined);
    return [...new Set([...super.entries, ...apart])];
  }
}
