import { Budget, type Share } from '../../../../core/budget.ts';
import { s3Error } from '../../../../core/s3/error.ts';

export interface VerifyTimes {
  /** A hold older than this may be evicted when others wait. Milliseconds. */
  readonly holdDeadline: number;
  /** A request that has waited this long gets SlowDown. Milliseconds. */
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

interface Held {
  readonly share: Share;
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
  readonly #budget: Budget;
  readonly #holds = new Set<Held>();

  constructor(limit: number, times: VerifyTimes = defaultVerifyTimes) {
    this.#limit = limit;
    this.#times = times;
    this.#budget = new Budget(limit);
  }

  get used(): number {
    return this.#budget.used;
  }

  /** At once, or undefined where others wait or there is no room. */
  take(bytes: number, evict: ((reason: Error) => void) | undefined): Hold | undefined {
    const share = this.#budget.ask(bytes);
    return share.giveUp() ? undefined : this.#hold(share, evict);
  }

  /** More than the whole budget is granted as the whole budget. @returns undefined when `patience` ran out. */
  async acquire(request: HoldRequest): Promise<Hold | undefined> {
    const share = this.#budget.ask(Math.min(request.bytes, this.#limit));
    if (share.waits && !(await this.#wait(share, request))) return undefined;
    return this.#hold(share, request.evict);
  }

  /** @returns whether it was granted */
  async #wait(share: Share, { signal, patience }: HoldRequest): Promise<boolean> {
    let failure: { readonly reason: unknown } | undefined;
    const fail = (reason: unknown) => {
      if (share.giveUp()) failure = { reason };
    };
    const onAbort = () => fail(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    const late = setTimeout(() => fail(s3Error('SlowDown')), this.#times.longestWait);
    const impatient = patience === undefined ? undefined : setTimeout(() => share.giveUp(), patience);
    const starving = setInterval(() => this.#evictOldest(), this.#times.holdDeadline / 5);
    const granted = await share.granted;
    for (const timer of [late, impatient, starving]) clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    if (failure !== undefined) throw failure.reason;
    return granted;
  }

  #hold(share: Share, evict: Held['evict']): Hold {
    const held: Held = { share, since: performance.now(), evict };
    this.#holds.add(held);
    const release = (bytes?: number) => {
      share.release(bytes);
      if (share.held === 0) this.#holds.delete(held);
    };
    return { release, releaseAll: () => release() };
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
