import type { Guard, ProcessFacts, ProtectedProcess } from '../guard/contract.ts';
import { ending } from './refusal.ts';
import { keyOf } from './registry.ts';

/** Long enough for a wrapper that has given up, which asks again within a second or two. */
const usualKeepMs = 10_000;
/** Results of quicker work are not kept but computed anew for later callers. Callers wait ten times as long. */
const quickMs = 500;
/** Equals the limit of connections. */
const mostKept = 256;

/** Makes the guard protect processes, with one walk at a time for each process however often it asks. */
export interface Protecting {
  /**
   * Resolves when the process and all of its descendants are protected.
   * @throws what the guard throws; the asker's reason
   */
  protect(process: ProtectedProcess, asker: AbortSignal): Promise<ProcessFacts>;
  /** Gives up work in progress. */
  close(): void;
}

/** @param keepMs how long a walk continues, and its result is kept, for a process that has given up */
export function createProtecting(guard: Guard, keepMs = usualKeepMs): Protecting {
  const work = new SharedWork<Pick<Guard['status'], 'tier'> & { facts: ProcessFacts }>({
    ...{ keepMs, quickMs, mostKept },
    holds: ({ tier }) => tier === guard.status.tier,
  });
  return {
    async protect(process, asker) {
      const { facts } = await work.of(process, asker, async (signal) => ({
        facts: await guard.protectInTurns(process.pid, signal),
        tier: guard.status.tier,
      }));
      return facts;
    },
    close: () => work.close(ending()),
  };
}

export interface SharedWorkOptions<T> {
  /** How long work continues, and its result is kept, while nobody waits for it, in milliseconds. */
  readonly keepMs: number;
  /** The result of work that took longer is kept even if it was delivered, because the caller may have given up. */
  readonly quickMs: number;
  /** Limit of works that nobody waits for; beyond it the oldest is given up. */
  readonly mostKept: number;
  /** Whether a kept result is still valid. */
  readonly holds: (value: T) => boolean;
}

interface Work<T> {
  readonly result: Promise<T>;
  readonly giveUp: AbortController;
  waiting: number;
  done?: { readonly value: T };
  timer?: NodeJS.Timeout;
}

/**
 * Work on processes, one at a time for each process. Callers join work in progress; one that has given up and asks
 * again finds the work continued, or its result.
 */
export class SharedWork<T> {
  readonly #options: SharedWorkOptions<T>;
  readonly #works = new Map<string, Work<T>>();

  constructor(options: SharedWorkOptions<T>) {
    this.#options = options;
  }

  get size(): number {
    return this.#works.size;
  }

  /**
   * @param begin does the work; its signal is aborted when nobody needs the result any more
   * @param asker aborted when this caller has given up
   * @throws what `begin` rejects with, for all waiting callers; the asker's reason
   */
  async of(
    process: ProtectedProcess,
    asker: AbortSignal,
    begin: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    asker.throwIfAborted();
    const key = keyOf(process);
    const work = this.#known(key) ?? this.#begin(key, begin);
    clearTimeout(work.timer);
    work.waiting += 1;
    try {
      return await unlessAborted(work.result, asker);
    } finally {
      work.waiting -= 1;
      if (work.waiting === 0) this.#keep(key, work);
    }
  }

  /** Gives up all work; waiting callers get this reason. */
  close(reason: Error): void {
    for (const [key, work] of this.#works) this.#forget(key, work, reason);
  }

  #known(key: string): Work<T> | undefined {
    const work = this.#works.get(key);
    return work?.done === undefined || this.#options.holds(work.done.value) ? work : undefined;
  }

  #begin(key: string, begin: (signal: AbortSignal) => Promise<T>): Work<T> {
    const giveUp = new AbortController();
    const begun = performance.now();
    const work: Work<T> = { result: begin(giveUp.signal), giveUp, waiting: 0 };
    work.result.then(
      (value) => {
        work.done = { value };
        if (work.waiting > 0 && performance.now() - begun < this.#options.quickMs) this.#forget(key, work);
      },
      () => this.#forget(key, work),
    );
    this.#works.set(key, work);
    return work;
  }

  #keep(key: string, work: Work<T>): void {
    if (this.#works.get(key) !== work) return;
    work.timer = setTimeout(() => this.#forget(key, work), this.#options.keepMs).unref();
    const kept = [...this.#works].filter(([, { waiting }]) => waiting === 0);
    const [oldest] = kept;
    if (kept.length > this.#options.mostKept && oldest !== undefined) this.#forget(...oldest);
  }

  #forget(key: string, work: Work<T>, reason?: Error): void {
    if (this.#works.get(key) === work) this.#works.delete(key);
    clearTimeout(work.timer);
    work.giveUp.abort(reason);
  }
}

/** @throws what `work` rejects with, or the signal's reason; a later rejection is ignored */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
