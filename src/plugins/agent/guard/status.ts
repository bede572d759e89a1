import { type Tier, tierNames } from '../../../core/protection/tier.ts';
import type { GuardStatus } from './contract.ts';

export interface Mode {
  readonly enforce: boolean;
  readonly kill: boolean;
}

export type PassedOver = GuardStatus['passedOver'];

export const undecided: GuardStatus = {
  tier: undefined,
  enforcing: false,
  reason: 'The canary has not decided yet.',
  passedOver: [],
};

export function statusOf(tier: Tier, mode: Mode, passedOver: PassedOver): GuardStatus {
  const reason = whyNotEnforcing(tier, mode, passedOver);
  return { tier, enforcing: reason === '', reason, passedOver };
}

function whyNotEnforcing(tier: Tier, { enforce, kill }: Mode, passedOver: PassedOver): string {
  if (tier === 4) return `No BPF program works here: ${describePassedOver(passedOver)}`;
  if (!enforce) return 'Enforcement is switched off (enforceMode: false); attempts are reported only.';
  if (tier === 3 && !kill) {
    return `Attempts can only be seen here, not denied, and reactiveKill is off: ${describePassedOver(passedOver)}`;
  }
  return '';
}

export function describePassedOver(passedOver: PassedOver): string {
  return passedOver.map(({ tier, reason }) => `${tierNames[tier]}: ${reason}`).join('; ');
}

export function sameStatus(one: GuardStatus, other: GuardStatus): boolean {
  return one.tier === other.tier && one.enforcing === other.enforcing && one.reason === other.reason;
}
