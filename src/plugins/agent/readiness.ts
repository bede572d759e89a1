import { tierNames } from '../../core/protection/tier.ts';
import type { Health } from '../../runtime/health/health.ts';
import type { GuardStatus } from './guard/contract.ts';

const condition = 'guard';

/** Tells `/readyz` which tier is in force, and why that is not enough where it is not. */
export function showStatus(health: Health, status: GuardStatus, requireEnforcement: boolean): void {
  health.fact('tier', status.tier ?? 0);
  health.fact('mechanism', status.tier === undefined ? 'undecided' : tierNames[status.tier]);
  health.fact('enforcing', status.enforcing);
  const isEnough = status.tier !== undefined && status.tier < 4 && (status.enforcing || !requireEnforcement);
  if (isEnough) health.ready(condition);
  else health.notReady(condition, status.reason);
}
