import type { Machine } from '../../faults/driver/machine.ts';

export interface FloodPlan {
  readonly machine: Machine;
  readonly tier: 1 | 2 | 3;
  readonly perSecond: number;
  readonly seconds: number;
}
