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
