/** The order of service: by arrival, or by size and then by arrival. */
export type Order = 'first' | 'smallest';

/** A share of a budget, requested and then held. */
export interface Share {
  /** Whether the share has not been granted yet. */
  readonly waits: boolean;
  /** Resolves with true once granted, with false if given up first. */
  readonly granted: Promise<boolean>;
  /** Amount held, in the budget's unit. */
  readonly held: number;
  /** Returns this amount, at most what is held; default: all. */
  release(amount?: number): void;
  /** Stops waiting. @returns false if the share was no longer waiting */
  giveUp(): boolean;
  /** Grants a waiting share now if it exceeds the whole budget by no more than `reserve`. */
  force(reserve: number): void;
}

interface Waiter {
  readonly amount: number;
  readonly grant: () => void;
}

/** Limits the amount held at a time; requests that do not fit wait for their turn. */
export class Budget {
  readonly #max: number;
  readonly #order: Order;
  readonly #whole: Budget | undefined;
  readonly #parts: Budget[] = [];
  readonly #waiting = new Set<Waiter>();
  #used = 0;

  /**
   * @param max in any unit, such as bytes or places; a single request for more waits until it gives up
   * @param whole a budget that this one is a part of, so that what is held here must fit there, too
   */
  constructor(max: number, order: Order = 'first', whole?: Budget) {
    this.#max = max;
    this.#order = order;
    this.#whole = whole;
    if (whole !== undefined) whole.#parts.push(this);
  }

  get used(): number {
    return this.#used;
  }

  /** Number of waiting requests. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Whether the next request waits only because other parts hold the whole. */
  get lacksWhole(): boolean {
    const next = this.#next();
    return next !== undefined && this.#used + next.amount <= this.#max && !this.#fits(next.amount);
  }

  /** Grants the amount at once if there is room and no request waits before it. */
  ask(amount: number): Share {
    const { promise: granted, resolve } = Promise.withResolvers<boolean>();
    let held = 0;
    const waiter: Waiter = {
      amount,
      grant: () => {
        this.#waiting.delete(waiter);
        this.#add(amount);
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
        this.#free(given);
      },
      giveUp: () => {
        if (!waiting.delete(waiter)) return false;
        resolve(false);
        this.#serve();
        return true;
      },
      force: (reserve) => {
        const whole = this.#whole ?? this;
        if (waiting.has(waiter) && whole.#used + amount <= whole.#max + reserve) waiter.grant();
      },
    };
  }

  #serve(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      if (!this.#fits(next.amount)) return;
      next.grant();
    }
  }

  #next(): Waiter | undefined {
    let [next] = this.#waiting;
    if (this.#order === 'first') return next;
    for (const one of this.#waiting) if (next === undefined || one.amount < next.amount) next = one;
    return next;
  }

  #fits(amount: number): boolean {
    const fits = this.#used + amount <= this.#max;
    return fits && (this.#whole === undefined || this.#whole.#fits(amount));
  }

  #add(amount: number): void {
    this.#used += amount;
    if (this.#whole !== undefined) this.#whole.#add(amount);
  }

  /** What a part gives back may serve those who wait in another one. */
  #free(amount: number): void {
    this.#used -= amount;
    if (this.#whole !== undefined) return this.#whole.#free(amount);
    this.#serve();
    for (const part of this.#parts) part.#serve();
  }
}
