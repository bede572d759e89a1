import { createBackoff } from '../../../runtime/lifecycle/backoff.ts';
import { sleep } from '../../../runtime/lifecycle/sleep.ts';

export interface BeatOptions {
  /** What is done at each beat. */
  readonly work: () => Promise<void>;
  /** Time to the next beat after one that succeeded, in ms. */
  readonly delayMs: () => number;
  /** No retry comes later than this, in ms. */
  readonly longestRetryMs?: () => number;
  /** Told of each beat that failed; it never ends the loop. */
  readonly onFailure: (error: unknown, retryMs: number) => void;
  readonly signal: AbortSignal;
}

/** Slow enough that a key server which refuses for a minute hears of us a few times only. */
const backoff = { initialMs: 8_000, maxMs: 60_000 };
const shortestRetryMs = 5_000;

/** Works at every beat until the signal is aborted; after a failure at growing, jittered intervals. */
export async function beat(options: BeatOptions): Promise<void> {
  const { work, delayMs, longestRetryMs = () => Number.POSITIVE_INFINITY, onFailure, signal } = options;
  const failures = createBackoff(backoff);
  let wait = delayMs();
  while (await slept(wait, signal)) {
    try {
      await work();
      failures.reset();
      wait = delayMs();
    } catch (error) {
      if (signal.aborted) return;
      wait = Math.min(longestRetryMs(), Math.max(shortestRetryMs, failures.next()));
      onFailure(error, wait);
    }
  }
}

async function slept(ms: number, signal: AbortSignal): Promise<boolean> {
  return sleep(ms, signal).then(
    () => true,
    () => false,
  );
}
