import { s3Error } from '../../../../core/s3/error.ts';

export interface VerifyTimes {
  /** A hold older than this may be evicted when others wait. Milliseconds. */
  readonly holdDeadline: number;
  /** A request that has waited this long is told to slow down. Milliseconds. */
  readonly longestWait: number;
}

export const defaultVerifyTimes: VerifyTimes = { holdDeadline: 15_000, longestWait: 30_000 };

export interface HoldRequest {
  readonly bytes: number;
  readonly signal: AbortSignal;
  /** Ends the request that holds memory beyond its deadline. */
  readonly evict?: ((reason: Error) => void) | undefined;
  /** Give up after this many milliseconds and answer undefined. */
  readonly patience?: number | undefined;
}

/** Bytes of plaintext that one request keeps in memory. */
export interface Hold {
  /** Gives some back; never more than is held. */
  release(bytes: number): void;
  releaseAll(): void;
}

interface Waiter {
  readonly bytes: number;
  readonly evict: ((reason: Error) => void) | undefined;
  readonly grant: (hold: Hold) => void;
}

interface Held {
  bytes: number;
  readonly since: number;
  readonly evict: ((reason: Error) => void) | undefined;
}

/**
 * Bounds the plaintext that waits in memory to be verified or taken, over all
 * requests of the process. First come, first served.
 */
export class VerifyBudget {
  readonly #limit: number;
  readonly #times: VerifyTimes;
  readonly #waiting: Waiter[] = [];
  readonly #holds = new Set<Held>();
  #used = 0;

  constructor(limit: number, times: VerifyTimes = defaultVerifyTimes) {
    this.#limit = limit;
    this.#times = times;
  }

  get used(): number {
    return this.#used;
  }

  /** At once, or undefined where others wait or there is no room. */
  take(bytes: number, evict: ((reason: Error) => void) | undefined): Hold | undefined {
    if (this.#waiting.length > 0 || this.#used + bytes > this.#limit) return undefined;
    return this.#grant(bytes, evict);
  }

  /** More than the whole budget is granted as the whole budget. @returns undefined when `patience` ran out. */
  async acquire(request: HoldRequest): Promise<Hold | undefined> {
    const bytes = Math.min(request.bytes, this.#limit);
    if (this.#waiting.length === 0 && this.#used + bytes <= this.#limit)
      return this.#grant(bytes, request.evict);
    request.signal.throwIfAborted();
    return this.#wait(bytes, request);
  }

  async #wait(bytes: number, { signal, evict, patience }: HoldRequest): Promise<Hold | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<Hold | undefined>();
    const waiter: Waiter = { bytes, evict, grant: resolve };
    const giveUp = (settle: () => void) => {
      this.#leave(waiter);
      settle();
    };
    const onAbort = () => giveUp(() => reject(signal.reason));
    signal.addEventListener('abort', onAbort, { once: true });
    const late = setTimeout(() => giveUp(() => reject(s3Error('SlowDown'))), this.#times.longestWait);
    const impatient =
      patience === undefined ? undefined : setTimeout(() => giveUp(() => resolve(undefined)), patience);
    const starving = setInterval(() => this.#evictOldest(), this.#times.holdDeadline / 5);
    this.#waiting.push(waiter);
    try {
      return await promise;
    } finally {
      for (const timer of [late, impatient, starving]) clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
  }

  #leave(waiter: Waiter): void {
    const index = this.#waiting.indexOf(waiter);
    if (index === -1) return;
    this.#waiting.splice(index, 1);
    this.#serve();
  }

  #grant(bytes: number, evict: ((reason: Error) => void) | undefined): Hold {
    const held: Held = { bytes, since: performance.now(), evict };
    this.#used += bytes;
    this.#holds.add(held);
    const release = (count: number) => this.#release(held, Math.min(count, held.bytes));
    return { release, releaseAll: () => release(held.bytes) };
  }

  #release(held: Held, bytes: number): void {
    held.bytes -= bytes;
    this.#used -= bytes;
    if (held.bytes === 0) this.#holds.delete(held);
    this.#serve();
  }

  #serve(): void {
    for (;;) {
      const next = this.#waiting[0];
      if (next === undefined || this.#used + next.bytes > this.#limit) return;
      this.#waiting.shift();
      next.grant(this.#grant(next.bytes, next.evict));
    }
  }

  /** Sets are ordered by insertion: the first hold is the oldest. */
  #evictOldest(): void {
    const now = performance.now();
    for (const held of this.#holds) {
      if (now - held.since < this.#times.holdDeadline) return;
      if (held.evict === undefined) continue;
      held.evict(s3Error('SlowDown', 'The body was taken too slowly while others waited for memory.'));
      return;
    }
  }
}
