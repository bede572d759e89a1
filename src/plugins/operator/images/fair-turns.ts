interface Waiter {
  readonly namespace: string;
  readonly go: () => void;
}

/**
 * Turns to do something, of which a namespace has at most as many at a time as are left free: alone it gets half of
 * them, and one that has none finds one soon, however long those of others take.
 */
export class FairTurns {
  readonly #most: number;
  readonly #taken = new Map<string, number>();
  readonly #waiting = new Set<Waiter>();
  #all = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Resolves when it is the turn, with what ends it. */
  async take(namespace: string): Promise<() => void> {
    await new Promise<void>((go) => {
      this.#waiting.add({ namespace, go });
      this.#serve();
    });
    return () => {
      this.#count(namespace, -1);
      this.#serve();
    };
  }

  #serve(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      this.#waiting.delete(next);
      this.#count(next.namespace, 1);
      next.go();
    }
  }

  /** Of the namespaces that may have one more, the one with the fewest. */
  #next(): Waiter | undefined {
    let fewest = this.#most - this.#all;
    let next: Waiter | undefined;
    for (const waiter of this.#waiting) {
      const taken = this.#taken.get(waiter.namespace) ?? 0;
      if (taken >= fewest) continue;
      fewest = taken;
      next = waiter;
    }
    return next;
  }

  #count(namespace: string, by: 1 | -1): void {
    const taken = (this.#taken.get(namespace) ?? 0) + by;
    this.#all += by;
    if (taken === 0) this.#taken.delete(namespace);
    else this.#taken.set(namespace, taken);
  }
}
