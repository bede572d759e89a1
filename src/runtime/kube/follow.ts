import { type Backoff, createBackoff } from '../lifecycle/backoff.ts';
import { sleep } from '../lifecycle/sleep.ts';
import { describeError } from '../logging/describe-error.ts';
import type { Logger } from '../logging/logger.ts';
import { hasCode, KubeError } from './errors.ts';
import type { ReflectTiming } from './reflect-options.ts';

export interface Followed {
  readonly path: string;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly timing: ReflectTiming;
  /** Resolves with the version from which a watch goes on. */
  list(): Promise<string>;
  /** Resolves when the watch has ended in time. */
  watch(version: string, onVersion: (version: string) => void): Promise<void>;
  /** @param error undefined where the signal has ended it */
  onLost(error?: unknown): void;
}

/**
 * Lists once, then watches again and again. A lost connection costs a new watch from where the last one had got to;
 * whatever puts that place in doubt costs a new list. Resolves when the signal is aborted.
 */
export async function followForever(followed: Followed): Promise<void> {
  const { signal, timing } = followed;
  const backoff = createBackoff({ initialMs: timing.initialBackoffMs, maxMs: timing.maxBackoffMs });
  let version: string | undefined;
  while (!signal.aborted) {
    try {
      version ??= await followed.list();
      await watchLong(followed, version, backoff, (reached) => {
        version = reached;
      });
    } catch (error) {
      if (signal.aborted) break;
      if (!mayPass(error)) version = undefined;
      await pause(followed, error, backoff);
    }
  }
  followed.onLost();
}

/** A watch that lives for a while is a success, however it ends; a short one is none. */
async function watchLong(
  { path, timing, watch }: Followed,
  version: string,
  backoff: Backoff,
  onVersion: (version: string) => void,
): Promise<void> {
  const began = performance.now();
  const isLong = () => performance.now() - began >= timing.stableMs;
  try {
    await watch(version, onVersion);
  } finally {
    if (isLong()) backoff.reset();
  }
  if (!isLong())
    throw new KubeError('KUBE_UNAVAILABLE', `The watch of ${path} ended as soon as it had begun`);
}

/** The version stays good while the API server is merely away, or does not let us in. */
function mayPass(error: unknown): boolean {
  return hasCode(error, 'KUBE_UNAVAILABLE', 'KUBE_DENIED');
}

async function pause(followed: Followed, error: unknown, backoff: Backoff): Promise<void> {
  const { path, log, signal, timing, onLost } = followed;
  onLost(error);
  const asked = error instanceof KubeError ? (error.retryAfterMs ?? 0) : 0;
  const delayMs = Math.round(Math.max(backoff.next(), Math.min(asked, timing.maxBackoffMs)));
  log.warn('kube.watch.failed', { path, ...describeError(error), retryInMs: delayMs });
  await sleep(delayMs, signal).catch(() => {});
}
