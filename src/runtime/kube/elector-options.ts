import type { Logger } from '../logging/logger.ts';
import type { KubeClient } from './client.ts';
import type { ElectorClocks } from './elector-term.ts';

export interface ElectorOptions {
  readonly client: KubeClient;
  /** Of the Lease. */
  readonly namespace: string;
  readonly name: string;
  /** Name of this replica; something random is appended, so that a restarted one is another. */
  readonly identity: string;
  /** How long others keep off a lease that is not renewed. Default: 15 s; written in whole seconds. */
  readonly leaseMs?: number;
  /** How long a renewal lets this replica lead; shorter, so that it ends before another begins. Default: 10 s. */
  readonly renewMs?: number;
  /** About the time between two attempts. Default: 2 s. */
  readonly retryMs?: number;
  /** Takes the lease once when it starts, whoever holds it. Default: false. */
  readonly takeOver?: boolean;
  readonly log: Logger;
  /** Aborted: it leads no more, and gives the lease up. */
  readonly signal: AbortSignal;
  /** Default: the machine's. */
  readonly clocks?: ElectorClocks;
}

export interface ElectorTimes {
  readonly leaseMs: number;
  readonly renewMs: number;
  readonly retryMs: number;
}

/** @throws RangeError unless retry < renewal < lease: two could lead at once */
export function electorTimes(options: Partial<ElectorTimes>): ElectorTimes {
  const { leaseMs = 15_000, renewMs = 10_000, retryMs = 2_000 } = options;
  if (retryMs > 0 && retryMs < renewMs && renewMs < leaseMs) return { leaseMs, renewMs, retryMs };
  throw new RangeError(
    `Leader election: needs 0 < retry < renewal < lease, not ${retryMs}, ${renewMs}, ${leaseMs}`,
  );
}
