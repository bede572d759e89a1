import { type Tier, tierNames } from '../../../core/protection/tier.ts';
import type { GuardStatus } from './contract.ts';
import type { Preemption } from './preemption.ts';

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

/** @param preemption of the tier in force */
export function statusOf(
  tier: Tier,
  mode: Mode,
  passedOver: PassedOver,
  preemption?: Preemption,
): GuardStatus {
  const reason = whyNotEnforcing(tier, mode, passedOver, preemption);
  return { tier, enforcing: reason === '', reason, passedOver };
}

function whyNotEnforcing(
  tier: Tier,
  { enforce, kill }: Mode,
  passedOver: PassedOver,
  preemption: Preemption | undefined,
): string {
  if (tier === 4) return `No BPF program works here: ${describePassedOver(passedOver)}`;
  if (!enforce) {
    const besides = kill ? ' It wins over reactiveKill: true, and nothing is killed.' : '';
    return `Enforcement is switched off (enforceMode: false); attempts are reported only.${besides}`;
  }
  if (tier === 3 && !kill) {
    return `Attempts can only be seen here, not denied, and reactiveKill is off: ${describePassedOver(passedOver)}`;
  }
  if (preemption?.possible && !kill) {
    return `Calls may pass by the programs on this kernel, which preempts (${preemption.because}), and reactiveKill is off: attempts are denied, and those that pass by are only seen.`;
  }
  return '';
}

export function describePassedOver(passedOver: PassedOver): string {
  return passedOver.map(({ tier, reason }) => `${tierNames[tier]}: ${reason}`).join('; ');
}

export function sameStatus(one: GuardStatus, other: GuardStatus): boolean {
  return (
    one.tier === other.tier &&
    one.enforcing === other.enforcing &&
    one.reason === other.reason &&
    describePassedOver(one.passedOver) === describePassedOver(other.passedOver)
  );
}
