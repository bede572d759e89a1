export interface BoundedMapOptions<K, V> {
  /** Default: values do not age. */
  readonly age?: Age;
  /** The share of the bound that an entry takes, in its unit; constant while the entry is kept. Default: 1. */
  readonly costOf?: (key: K, value: V) => number;
}

export interface Age {
  /** In milliseconds; a value that is as old is not given any more. */
  readonly mostMs: number;
  /** In milliseconds, monotonic. */
  readonly now: () => number;
}

/** A map that forgets what was used longest ago, and what is older than a limit where it has one. */
export class BoundedMap<K, V> {
  readonly #most: number;
  readonly #age: Age | undefined;
  readonly #costOf: (key: K, value: V) => number;
  /** Least recently used first. */
  readonly #values = new Map<K, V>();
  /** When a value was set; only where values age, because there are many small maps. */
  readonly #times: Map<K, number> | undefined;
  #cost = 0;

  /** @param most entries, or what they may cost together */
  constructor(most: number, { age, costOf = () => 1 }: BoundedMapOptions<K, V> = {}) {
    this.#most = most;
    this.#age = age;
    this.#costOf = costOf;
    this.#times = age && new Map();
  }

  /** Of entries; those too old count until they are asked for. */
  get size(): number {
    return this.#values.size;
  }

  /** @param mostMs milliseconds; an older value is not given, but kept. Default: the map's own limit */
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

  /** The value, without counting as a use of it. */
  peek(key: K): V | undefined {
    return this.#isOver(this.#ageOf(key)) ? undefined : this.#values.get(key);
  }

  /**
   * Does not keep what costs more than the bound by itself.
   * @param at since when the value has been true, by the map's clock. Default: now
   */
  set(key: K, value: V, at?: number): void {
    this.delete(key);
    const cost = this.#costOf(key, value);
    if (cost > this.#most) return;
    this.#values.set(key, value);
    this.#times?.set(key, at ?? this.#now());
    this.#cost += cost;
    for (const oldest of this.#values.keys()) {
      if (this.#cost <= this.#most) return;
      this.delete(oldest);
    }
  }

  delete(key: K): void {
    const value = this.#values.get(key);
    if (!this.#values.delete(key)) return;
    this.#cost -= this.#costOf(key, value as V);
    this.#times?.delete(key);
  }

  /** Used longest ago first, whatever their age; does not count as a use. */
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

/** Answers by name, each asked for once however many want it meanwhile. A failure is forgotten as soon as it comes. */
export class Remembered<T> {
  readonly #answers: BoundedMap<string, Promise<T>>;

  /**
   * @param most answers
   * @param age counted from the question on
   */
  constructor(most: number, age: Age) {
    this.#answers = new BoundedMap(most, { age });
  }

  /** Undefined where it has to be asked for. */
  get(name: string): Promise<T> | undefined {
    return this.#answers.get(name);
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
