export interface BoundedMapOptions<K, V> {
  /** Default: values do not expire. */
  readonly age?: Age;
  /** Cost of an entry, in the unit of the bound; constant while the entry is kept. Default: 1. */
  readonly costOf?: (key: K, value: V) => number;
}

export interface Age {
  /** Milliseconds; older values are not returned. */
  readonly mostMs: number;
  /** Monotonic clock in milliseconds. */
  readonly now: () => number;
}

/** A map that drops the least recently used entries and, with an age limit, old ones. */
export class BoundedMap<K, V> {
  readonly #max: number;
  readonly #age: Age | undefined;
  readonly #costOf: (key: K, value: V) => number;
  /** Least recently used first. */
  readonly #values = new Map<K, V>();
  /** When each value was set; only if values expire, because there are many small maps. */
  readonly #times: Map<K, number> | undefined;
  #cost = 0;

  /** @param max number of entries, or their total cost */
  constructor(max: number, { age, costOf = () => 1 }: BoundedMapOptions<K, V> = {}) {
    this.#max = max;
    this.#age = age;
    this.#costOf = costOf;
    this.#times = age && new Map();
  }

  /** Number of entries; expired ones count until they are requested. */
  get size(): number {
    return this.#values.size;
  }

  /** @param mostMs milliseconds; an older value is not returned, but kept. Default: the map's own limit */
  get(key: K, mostMs = Number.POSITIVE_INFINITY): V | undefined {
    const value = this.#values.get(key);
    if (value === undefined) return undefined;
    const ageMs = this.#ageOf(key);
    if (this.#isOver(ageMs)) {
      this.delete(key);
      return undefined;
    }
    this.#values.delete(key);
    this.#values.set(key, value);
    return ageMs < mostMs ? value : undefined;
  }

  /** Does not count as a use. */
  peek(key: K): V | undefined {
    return this.#isOver(this.#ageOf(key)) ? undefined : this.#values.get(key);
  }

  /**
   * An entry that alone exceeds the limit is not kept.
   * @param at time of the value on the map's clock. Default: now
   */
  set(key: K, value: V, at?: number): void {
    this.delete(key);
    const cost = this.#costOf(key, value);
    if (cost > this.#max) return;
    this.#values.set(key, value);
    this.#times?.set(key, at ?? this.#now());
    this.#cost += cost;
    for (const oldest of this.#values.keys()) {
      if (this.#cost <= this.#max) return;
      this.delete(oldest);
    }
  }

  delete(key: K): void {
    const value = this.#values.get(key);
    if (!this.#values.delete(key)) return;
    this.#cost -= this.#costOf(key, value as V);
    this.#times?.delete(key);
  }

  /** In order of last use, the oldest first, regardless of age; does not count as a use. */
  [Symbol.iterator](): IterableIterator<[K, V]> {
    return this.#values[Symbol.iterator]();
  }

  #isOver(ageMs: number): boolean {
    return this.#age !== undefined && ageMs >= this.#age.mostMs;
  }

  #ageOf(key: K): number {
    return this.#now() - (this.#times?.get(key) ?? 0);
  }

  #now(): number {
    return this.#age?.now() ?? 0;
  }
}

/** A cache of answers by name; concurrent requests for a name share one call. Failures are not cached. */
export class Remembered<T> {
  readonly #answers: BoundedMap<string, Promise<T>>;

  /** @param max answers @param age counted from the start of the call */
  constructor(max: number, age: Age) {
    this.#answers = new BoundedMap(max, { age });
  }

  /** Undefined if not cached. */
  get(name: string): Promise<T> | undefined {
    return this.#answers.get(name);
  }

  forget(name: string): void {
    this.#answers.delete(name);
  }

  /** @returns the answer */
  keep(name: string, answer: Promise<T>): Promise<T> {
    this.#answers.set(name, answer);
    answer.catch(() => {
      if (this.#answers.peek(name) === answer) this.#answers.delete(name);
    });
    return answer;
  }
}
