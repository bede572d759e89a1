/** A map that forgets what was used longest ago, and what is older than a limit. */
export class BoundedMap<V> {
  readonly #most: number;
  readonly #maxAgeMs: number;
  readonly #now: () => number;
  readonly #entries = new Map<string, { readonly value: V; readonly at: number }>();

  /** @param now in ms, of a clock that only goes forward */
  constructor(most: number, maxAgeMs: number, now: () => number) {
    this.#most = most;
    this.#maxAgeMs = maxAgeMs;
    this.#now = now;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** @param maxAgeMs an older value is not given, but kept */
  get(key: string, maxAgeMs: number = this.#maxAgeMs): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    const age = this.#now() - entry.at;
    this.#entries.delete(key);
    if (age >= this.#maxAgeMs) return undefined;
    this.#entries.set(key, entry);
    return age < maxAgeMs ? entry.value : undefined;
  }

  set(key: string, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, { value, at: this.#now() });
    if (this.#entries.size <= this.#most) return;
    const [oldest = key] = this.#entries.keys();
    this.#entries.delete(oldest);
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }
}

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
