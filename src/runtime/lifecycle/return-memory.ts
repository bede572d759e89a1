import { isLargerThan } from '../memory.ts';
import { returnFreeMemory } from '../native/own-process.ts';
import { startPeriodic } from './wait.ts';

/** Milliseconds between returns of free memory: always, and while the process is large. */
const returnEveryMs = { always: 10_000, large: 1_000 };

/**
 * Returns memory freed after bursts of work, until the signal: malloc alone keeps it, in holes between what stays.
 * @param largeBytes resident bytes from which on the process is large
 */
export function returnMemoryNowAndThen(largeBytes: number, signal: AbortSignal): void {
  if (process.platform !== 'linux') return;
  let returnedAt = 0;
  const pass = async () => {
    const now = performance.now();
    if (now - returnedAt >= returnEveryMs.always || isLargerThan(largeBytes)) {
      returnFreeMemory();
      returnedAt = now;
    }
    return returnEveryMs.large;
  };
  startPeriodic({ pass, signal, firstMs: returnEveryMs.always });
}
