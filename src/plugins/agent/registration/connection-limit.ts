/** What counts of a connection when there are too many. */
export interface Bounded {
  /** 0 for a process outside of the agent's PID namespace. */
  readonly pid: number;
  /** Whom it belongs to, such as user and container. */
  readonly owner: string;
  /** Ends it at once. */
  drop(): void;
}

export interface ConnectionBounds {
  readonly perProcess: number;
  readonly total: number;
}

/**
 * Keeps connections to a number without turning anybody away: a newcomer takes the place of the oldest one of its
 * process, or of whoever holds the most. So nobody keeps others out by holding connections.
 */
export class ConnectionLimit {
  readonly #bounds: ConnectionBounds;
  /** Oldest first. */
  readonly #held = new Set<Bounded>();

  constructor(bounds: ConnectionBounds) {
    this.#bounds = bounds;
  }

  get size(): number {
    return this.#held.size;
  }

  add(connection: Bounded): void {
    const own = [...this.#held].filter(({ pid }) => pid !== 0 && pid === connection.pid);
    if (own.length >= this.#bounds.perProcess) this.#drop(own[0]);
    else if (this.#held.size >= this.#bounds.total) this.#drop(this.#oldestOfLargest());
    this.#held.add(connection);
  }

  remove(connection: Bounded): void {
    this.#held.delete(connection);
  }

  #drop(connection: Bounded | undefined): void {
    if (connection === undefined) return;
    this.#held.delete(connection);
    connection.drop();
  }

  #oldestOfLargest(): Bounded | undefined {
    const byOwner = Map.groupBy(this.#held, ({ owner }) => owner);
    let largest: readonly Bounded[] = [];
    for (const held of byOwner.values()) if (held.length > largest.length) largest = held;
    return largest[0];
  }
}
