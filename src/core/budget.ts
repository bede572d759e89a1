/** The order of service: by arrival, or by size and then by arrival. */
export type Order = 'first' | 'smallest';

/** A share of a budget, requested and then held. */
export interface Share {
  /** Whether it is still waited for. */
  readonly waits: boolean;
  /** Resolves with true when it is held, with false if it was given up first. */
  readonly granted: Promise<boolean>;
  /** What is held, in the budget's unit. */
  readonly held: number;
  /** Returns this much, never more than is held; default: all. */
  release(amount?: number): void;
  /** Ends the waiting. @returns false where it did not wait any more */
  giveUp(): boolean;
}

interface Waiter {
  readonly amount: number;
  readonly grant: () => void;
}

/** Limits what is held at a time; requests that do not fit wait for their turn. */
export class Budget {
  readonly #most: number;
  readonly #order: Order;
  readonly #waiting = new Set<Waiter>();
  #used = 0;

  /** @param most in any unit, such as bytes or places; a single request for more waits until it gives up */
  constructor(most: number, order: Order = 'first') {
    this.#most = most;
    this.#order = order;
  }

  get used(): number {
    return this.#used;
  }

  /** How many wait. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Grants it at once if there is room and nothing waits before it. */
  ask(amount: number): Share {
    const { promise: granted, resolve } = Promise.withResolvers<boolean>();
    let held = 0;
    const waiter: Waiter = {
      amount,
      grant: () => {
        held = amount;
        resolve(true);
      },
    };
    const waiting = this.#waiting;
    waiting.add(waiter);
    this.#serve();
    return {
      granted,
      get waits() {
        return waiting.has(waiter);
      },
      get held() {
        return held;
      },
      release: (amount = held) => {
        const given = Math.min(amount, held);
        held -= given;
        this.#used -= given;
        this.#serve();
      },
      giveUp: () => {
        if (!waiting.delete(waiter)) return false;
        resolve(false);
        this.#serve();
        return true;
      },
    };
  }

  #serve(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      if (this.#used + next.amount > this.#most) return;
      this.#waiting.delete(next);
      this.#used += next.amount;
      next.grant();
    }
  }

  #next(): Waiter | undefined {
    let [next] = this.#waiting;
    if (this.#order === 'first') return next;
    for (const one of this.#waiting) if (next === undefined || one.amount < next.amount) next = one;
    return next;
  }
}
