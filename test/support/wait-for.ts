import { setTimeout as sleep } from 'node:timers/promises';
import { generous } from './patience.ts';

/** The first pause; each is a tenth longer than the one before, so that what takes minutes is not asked thousands of times. */
const FIRST_POLL_MS = 20;
const LONGEST_POLL_MS = 250;

export interface WaitOptions {
  /** Bound in ms, default 60 000, more on a busy machine: reached only when something is broken. */
  readonly timeoutMs?: number;
  /** Text for the error, such as a server's logs. */
  readonly details?: () => string;
}

/**
 * Polls until `check` yields something true; what it throws counts as not yet.
 * @returns what `check` yielded
 * @throws Error naming `what`, the last error and the details when the bound is reached
 */
export async function waitFor<T>(
  what: string,
  check: () => T | Promise<T>,
  options: WaitOptions = {},
): Promise<Exclude<T, false | null | undefined>> {
  const started = performance.now();
  let last: unknown;
  let pauseMs = FIRST_POLL_MS;
  do {
    try {
      const value = await check();
      if (value) return value as Exclude<T, false | null | undefined>;
    } catch (error) {
      last = error;
    }
    await sleep(pauseMs);
    pauseMs = Math.min(pauseMs * 1.1, LONGEST_POLL_MS);
  } while (performance.now() < started + generous(options.timeoutMs ?? 60_000));
  throw new Error(`${what} did not come about in time\n${options.details?.() ?? ''}`, { cause: last });
}
