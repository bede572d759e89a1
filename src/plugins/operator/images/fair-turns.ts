import { NamespaceCounts } from './namespace-counts.ts';

interface Waiter {
  readonly namespace: string;
  readonly go: () => void;
}

/**
 * Turns to do something, shared by namespaces as `NamespaceCounts` says: one that has none finds one soon, however long
 * those of others take.
 */
export class FairTurns {
  readonly #most: number;
  readonly #taken = new NamespaceCounts();
  readonly #waiting = new Set<Waiter>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Whether nobody has a turn or waits for one. */
  get isIdle(): boolean {
    return this.#taken.sum === 0 && this.#waiting.size === 0;
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
    let fewest = Number.POSITIVE_INFINITY;
    let next: Waiter | undefined;
    for (const waiter of this.#waiting) {
      const taken = this.#taken.of(waiter.namespace);
      if (taken >= fewest || !this.#taken.mayAdd(waiter.namespace, this.#most)) continue;
      fewest = taken;
      next = waiter;
    }
    return next;
  }
}

/** The same turns for each of several keys, such as hosts. */
export class FairTurnsByKey {
  readonly #most: number;
  readonly #turns = new Map<string, FairTurns>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Resolves when it is the turn, with what ends it. */
  async take(key: string, namespace: string): Promise<() => void> {
    const turns = this.#turns.get(key) ?? new FairTurns(this.#most);
    this.#turns.set(key, turns);
    const end = await turns.take(namespace);
    return () => {
      end();
      if (turns.isIdle) this.#turns.delete(key);
    };
  }
}
