import type { Hit } from '../../../core/protection/hit.ts';

/** A hit with what this node knows about it. */
export interface ObservedHit extends Hit {
  /** Nanoseconds since 1970. */
  readonly at: bigint;
  /** Undefined where the number is not one that leads to a hit. */
  readonly syscallName: string | undefined;
  /** UIDs of the pods; undefined for a process that is in none. */
  readonly sourcePod: string | undefined;
  readonly targetPod: string | undefined;
}
