export interface BucketSize {
  /** That may come at once. */
  readonly burst: number;
  readonly perSecond: number;
}

/** Lets so many pass on average, and a few at once. */
export class TokenBucket {
  readonly #size: BucketSize;
  #tokens: number;
  #at: number;

  /** @param now in milliseconds, of a clock that only goes forward */
  constructor(size: BucketSize, now: number) {
    this.#size = size;
    this.#tokens = size.burst;
    this.#at = now;
  }

  take(now: number): boolean {
    const { burst, perSecond } = this.#size;
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#at) / 1_000) * perSecond);
    this.#at = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
