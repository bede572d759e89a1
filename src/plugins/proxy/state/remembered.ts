/** At most this many answers: names come from callers. */
const maxEntries = 1_000;

interface Entry<T> {
  readonly value: Promise<T>;
  readonly until: number;
}

/** Answers by name, each asked for once in `lifeMs` milliseconds. Failures are not kept. */
export class Remembered<T> {
  readonly #ask: (name: string) => Promise<T>;
  readonly #lifeMs: number;
  readonly #now: () => number;
  readonly #entries = new Map<string, Entry<T>>();

  constructor(ask: (name: string) => Promise<T>, lifeMs: number, now: () => number) {
    this.#ask = ask;
    this.#lifeMs = lifeMs;
    this.#now = now;
  }

  get(name: string): Promise<T> {
    const known = this.#entries.get(name);
    return known && known.until > this.#now() ? known.value : this.renew(name);
  }

  /** Asks whatever is remembered. */
  renew(name: string): Promise<T> {
    const value = this.#ask(name);
    this.set(name, value);
    return value;
  }

  set(name: string, value: Promise<T>): void {
    const entry = { value, until: this.#now() + this.#lifeMs };
    this.#keep(name, entry);
    value.catch(() => {
      if (this.#entries.get(name) === entry) this.#entries.delete(name);
    });
  }

  #keep(name: string, entry: Entry<T>): void {
    this.#entries.delete(name);
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined && this.#entries.size >= maxEntries) this.#entries.delete(oldest);
    this.#entries.set(name, entry);
  }
}
