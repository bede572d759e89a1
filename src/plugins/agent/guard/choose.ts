import { messageOf } from '../../../core/errors.ts';
import type { Tier } from '../../../core/protection/tier.ts';
import { type EstablishOptions, establish, type InForce } from './establish.ts';
import type { PassedOver } from './status.ts';

export interface Choice {
  /** Undefined where no tier works. */
  readonly inForce: InForce | undefined;
  /** With the tier in force where it lacks something. */
  readonly passedOver: PassedOver;
}

/** Establishes the first tier that its canary proves. */
export async function chooseTier(tiers: readonly Tier[], options: EstablishOptions): Promise<Choice> {
  const passedOver: { tier: Tier; reason: string }[] = [];
  for (const tier of tiers) {
    try {
      const inForce = await establish(tier, options);
      if (inForce.lacking !== undefined) passedOver.push({ tier, reason: inForce.lacking });
      return { inForce, passedOver };
    } catch (error) {
      passedOver.push({ tier, reason: messageOf(error) });
    }
  }
  return { inForce: undefined, passedOver };
}
