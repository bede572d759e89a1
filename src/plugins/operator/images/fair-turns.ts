import { NamespaceCounts } from './namespace-counts.ts';

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
  readonly #taken = new NamespaceCounts();
  readonly #waiting = new Set<Waiter>();

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
      this.#taken.add(namespace, -1);
      this.#serve();
    };
  }

  #serve(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      this.#waiting.delete(next);
      this.#taken.add(next.namespace, 1);
      next.go();
    }
  }

  /** Of the namespaces that may have one more, the one with the fewest. */
  #next(): Waiter | undefined {
    let fewest = this.#most - this.#taken.sum;
    let next: Waiter | undefined;
    for (const waiter of this.#waiting) {
      const taken = this.#taken.of(waiter.namespace);
      if (taken >= fewest) continue;
      fewest = taken;
      next = waiter;
    }
    return next;
  }
}
