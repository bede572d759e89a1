import type { LeaseRecord } from './lease.ts';

/**
 * How long a lease has stood unchanged, by a clock of our own: the times in it are by the clocks of others, which
 * may be wrong by any amount.
 */
export interface LeaseObservation {
  /** It was read, or written, and is like this. */
  see(record: LeaseRecord): void;
  /** No holder can believe any more that it is its own; true too where none was ever seen. */
  mayBeTaken(): boolean;
}

/** @param clock milliseconds that only grow */
export function observeLease(clock: () => number): LeaseObservation {
  let seen: LeaseRecord | undefined;
  let since = 0;
  return {
    see(record) {
      if (seen !== undefined && isSame(seen, record)) return;
      seen = record;
      since = clock();
    },
    mayBeTaken() {
      if (seen === undefined || seen.holder === '') return true;
      return clock() - since > seen.durationSeconds * 1_000;
    },
  };
}

function isSame(one: LeaseRecord, other: LeaseRecord): boolean {
  return (
    one.holder === other.holder &&
    one.renewTime === other.renewTime &&
    one.acquireTime === other.acquireTime &&
    one.durationSeconds === other.durationSeconds &&
    one.transitions === other.transitions
  );
}
