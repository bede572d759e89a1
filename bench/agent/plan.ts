import type { Machine } from '../../test/plugins/agent/bypass/driver/plan.ts';
import type { CostResult } from '../../test/support/bypass/types.ts';

export type KernelTier = 1 | 2 | 3;

/**
 * What is attached: nothing; what the agent usually attaches; besides, the check of every read; or what it adds where
 * the kernel preempts its programs, or where readers are killed on tier 3. And in the place of the check of openings, or of that of reads besides, programs
 * that do nothing.
 */
export type State = 'off' | 'on' | 'late' | 'preempted' | 'killing' | 'floor' | 'late-floor';

export interface CostPlan {
  readonly tier: KernelTier;
  readonly machine: Machine;
  /** Objects of the agent and of programs that do nothing. */
  readonly object: string;
  readonly floor: string;
  readonly herd: number;
  readonly rounds: number;
  /** For `bypass cost`. */
  readonly meter: readonly string[];
}

/** How much is measured. */
export type CostExtent = Pick<CostPlan, 'herd' | 'rounds' | 'meter'>;

export type CostRecord =
  | { readonly kind: 'round'; readonly round: number; readonly state: State; readonly figures: CostResult }
  | {
      readonly kind: 'facts';
      readonly kernel: string;
      readonly covered: number;
      /** Of the kernel for the maps, in bytes. */
      readonly maps: Readonly<Record<string, number>>;
    };
