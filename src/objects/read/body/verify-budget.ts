import { Budget, type Share } from '../../../runtime/bounds/budget.ts';
import { s3Error } from '../../s3/error.ts';

export interface VerifyTimes {
  /** Age in milliseconds at which a hold may be evicted while others wait. */
  readonly holdDeadline: number;
  /** Milliseconds after which a waiting request gets SlowDown. */
  readonly longestWait: number;
}

export const defaultVerifyTimes: VerifyTimes = { holdDeadline: 15_000, longestWait: 30_000 };

export interface HoldRequest {
  readonly bytes: number;
  readonly signal: AbortSignal;
  /** Ends the request if it holds memory beyond its deadline. */
  readonly evict?: ((reason: Error) => void) | undefined;
  /** Milliseconds after which the request gives up and gets undefined. */
  readonly patience?: number | undefined;
}

/** Plaintext bytes that one request keeps in memory. */
export interface Hold {
  /** Returns some of the memory, at most what is held. */
  release(bytes: number): void;
  releaseAll(): void;
}

interface Held {
  readonly share: Share;
  readonly since: number;
  readonly evict: ((reason: Error) => void) | undefined;
}

/**
 * Bounds plaintext that waits in memory for verification or delivery, over all requests of the process. First come,
 * first served.
 */
export class VerifyBudget {
  readonly #limit: number;
  readonly #times: VerifyTimes;
  readonly #budget: Budget;
  readonly #holds = new Set<Held>();

  constructor(limit: number, times: VerifyTimes = defaultVerifyTimes, budget = new Budget(limit)) {
    this.#limit = limit;
    this.#times = times;
    this.#budget = budget;
  }

  get used(): number {
    return this.#budget.used;
  }

  /** Grants memory at once; undefined if others wait or there is no room. */
  take(bytes: number, evict: ((reason: Error) => void) | undefined): Hold | undefined {
    const share = this.#budget.ask(bytes);
    return share.giveUp() ? undefined : this.#hold(share, evict);
  }

  /** Grants at most the whole budget. @returns undefined if `patience` ran out */
  async acquire(request: HoldRequest): Promise<Hold | undefined> {
    const share = this.#budget.ask(Math.min(request.bytes, this.#limit));
    if (share.waits && !(await this.#wait(share, request))) return undefined;
    return this.#hold(share, request.evict);
  }

  /** @returns whether the share was granted */
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

  /** Sets keep insertion order, so the first hold is the oldest. */
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
