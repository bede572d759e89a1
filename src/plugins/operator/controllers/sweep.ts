import type { WorkQueue } from '../../../runtime/kube/work-queue.ts';
import { sleep } from '../../../runtime/lifecycle/sleep.ts';

export interface Sweeps {
  readonly queue: WorkQueue;
  readonly keys: () => Iterable<string>;
  /** Between two; 0: only those that are asked for. */
  readonly everyMs: number;
  readonly signal: AbortSignal;
}

/** Adds all keys to the queue, again and again. */
export interface Sweeper {
  /** Once more, after the one under way: a key was turned away. */
  request(): void;
  /** Resolves when the signal was aborted; never rejects. */
  readonly closed: Promise<void>;
}

/** The first one at once. Where the queue has no room a sweep waits, so that the keys at its end have their turn, too. */
export function startSweeps({ queue, keys, everyMs, signal }: Sweeps): Sweeper {
  let wanted = new AbortController();
  const loop = async () => {
    while (!signal.aborted) {
      wanted = new AbortController();
      await sweep(queue, keys(), signal);
      await pause(everyMs, AbortSignal.any([signal, wanted.signal]));
    }
  };
  return { request: () => wanted.abort(), closed: loop() };
}

async function sweep(queue: WorkQueue, keys: Iterable<string>, signal: AbortSignal): Promise<void> {
  for (const key of keys) {
    while (!queue.add(key)) await queue.whenRoom();
    if (signal.aborted) return;
  }
}

/** Jitter keeps the controllers apart. */
async function pause(everyMs: number, signal: AbortSignal): Promise<void> {
  // the longest that a timer can do
  const length = everyMs === 0 ? 2 ** 31 - 1 : everyMs * (0.9 + 0.2 * Math.random());
  await sleep(length, signal).catch(() => {});
}
