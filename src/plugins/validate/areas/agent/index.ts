import type { Check } from '../../contract.ts';
import { canary } from './canary.ts';
import { coverage } from './coverage.ts';
import { losses } from './losses.ts';
import { podsCovered } from './pods-covered.ts';
import { priority } from './priority.ts';
import { tier } from './tier.ts';

export const agentChecks: readonly Check[] = [coverage, canary, tier, losses, priority, podsCovered];
