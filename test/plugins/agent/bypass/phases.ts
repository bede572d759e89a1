import type { Phase } from './driver/plan.ts';

export type TierNumber = 1 | 2 | 3;

/** A phase of the driver, and what it is to show. */
export interface JudgedPhase extends Phase {
  readonly tier: TierNumber | 4;
}

export const unprotected: JudgedPhase = { name: 'unprotected', tier: 4 };

/** As an agent is configured by default: on tiers 1 and 2 it denies. */
export function denying(tier: 1 | 2): JudgedPhase {
  return { name: `tier ${tier}`, tier, mode: { enforce: true, kill: false } };
}

export function denyingByCgroup(tier: 1 | 2): JudgedPhase {
  return { ...denying(tier), name: `tier ${tier}, covered by the cgroup alone`, by: 'cgroup' };
}

/** `enforceMode: false` */
export function auditing(tier: TierNumber): JudgedPhase {
  const tiers = tier === 3 ? { tiers: [3] as const } : {};
  return { name: `tier ${tier}, audit`, tier, mode: { ...tiers, enforce: false, kill: false } };
}

/** Tier 3 without `reactiveKill`. */
export const watching: JudgedPhase = {
  name: 'tier 3 without kill',
  tier: 3,
  mode: { tiers: [3], enforce: true, kill: false },
};

export const killing: JudgedPhase = {
  name: 'tier 3 with kill',
  tier: 3,
  mode: { tiers: [3], enforce: true, kill: true },
};

export const killingByCgroup: JudgedPhase = {
  ...killing,
  name: 'tier 3 with kill, covered by the cgroup alone',
  by: 'cgroup',
};
