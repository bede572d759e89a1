import { sleep } from './wait.ts';

export interface PeriodicOptions {
  /** One pass. @returns milliseconds until the next one; what it throws ends the loop and rejects `closed` */
  readonly pass: () => Promise<number>;
  /** Ends the loop after the pass under way. */
  readonly signal: AbortSignal;
  /** Milliseconds before the first pass; default: it begins at once. */
  readonly firstMs?: number;
  /** Milliseconds that `wake` cannot shorten: a reason that repeats itself must not become a busy loop. */
  readonly shortestPauseMs?: number;
}

/** Work that is done again and again, one pass after the other. */
export interface Periodic {
  /** The next pass begins as soon as the one under way has ended. */
  wake(): void;
  /** Resolves when the signal was aborted and the last pass has ended. */
  readonly closed: Promise<void>;
}

export function startPeriodic({ pass, signal, firstMs = 0, shortestPauseMs = 0 }: PeriodicOptions): Periodic {
  let woken = new AbortController();
  const pause = async (delayMs: number) => {
    const either = AbortSignal.any([signal, woken.signal]);
    if (shortestPauseMs > 0) await sleep(Math.min(shortestPauseMs, delayMs), signal).catch(() => {});
    await sleep(delayMs, either).catch(() => {});
  };
  const run = async () => {
    if (firstMs > 0) await pause(firstMs);
    while (!signal.aborted) {
      woken = new AbortController();
      await pause(await pass());
    }
  };
  return { wake: () => woken.abort(), closed: run() };
}
