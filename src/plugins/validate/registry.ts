import { agentChecks } from './areas/agent.ts';
import { clusterChecks } from './areas/cluster.ts';
import { configurationChecks } from './areas/configuration.ts';
import { connectivityChecks } from './areas/connectivity.ts';
import { egressChecks } from './areas/egress/index.ts';
import { hostChecks } from './areas/host.ts';
import { kekChecks } from './areas/kek.ts';
import { operatorChecks } from './areas/operator/index.ts';
import { proxyStoreChecks } from './areas/proxy-store.ts';
import { recoveryChecks } from './areas/recovery.ts';
import { kvReadable, kvVersion, roundTrip } from './areas/secrets-server/engines.ts';
import { policyExact, policySuffices, role } from './areas/secrets-server/policy.ts';
import {
  active,
  answers,
  certificateLasts,
  certificateTrusted,
  login,
  unsealed,
} from './areas/secrets-server/server.ts';
import type { Check } from './check.ts';
import type { Area } from './settings.ts';

const secretsServerChecks: readonly Check[] = [
  answers,
  unsealed,
  active,
  certificateTrusted,
  certificateLasts,
  login,
  role,
  policySuffices,
  policyExact,
  roundTrip,
  kvReadable,
  kvVersion,
];

/** All checks, in display order. */
export const checks: readonly Check[] = [
  ...configurationChecks,
  ...secretsServerChecks,
  ...kekChecks,
  ...clusterChecks,
  ...connectivityChecks,
  ...operatorChecks,
  ...agentChecks,
  ...egressChecks,
  ...proxyStoreChecks,
  ...recoveryChecks,
  ...hostChecks,
];

export interface CheckSelection {
  /** Checks that need no cluster. */
  readonly pre: boolean;
  /** Checks of this machine as a node. */
  readonly node: boolean;
  /** Checks of what recovery keys open. */
  readonly rehearsal: boolean;
  readonly areas: readonly Area[];
  readonly ids: readonly string[];
}

/**
 * Areas and ids select exactly these checks, in addition to a rehearsal. Without them, `node` selects the machine,
 * `rehearsal` what recovery keys open, and `pre` everything else that needs no cluster; several flags select their
 * union, no flag everything except for machine and rehearsal. `pre` always excludes checks that need a cluster.
 */
export function selected(checks: readonly Check[], selection: CheckSelection): readonly Check[] {
  const { pre, node, rehearsal, areas, ids } = selection;
  const named = areas.length + ids.length > 0;
  return checks.filter((check) => {
    const { id, area, needs } = check;
    if (pre && needs === 'cluster') return false;
    if (area === 'recovery' && rehearsal) return true;
    if (named) return areas.includes(area) || ids.includes(id);
    if (area === 'recovery') return false;
    if (area === 'host') return node;
    return pre || !(node || rehearsal);
  });
}

/**
 * If there are errors, adds the check of variables: invalid variables count as not given, so other checks may examine
 * something unintended. Checks of the machine need no variables.
 */
export function reportingOfErrors(
  some: readonly Check[],
  checks: readonly Check[],
  errors: readonly string[],
): readonly Check[] {
  const concerned = some.some(({ needs }) => needs !== 'none' && needs !== 'node');
  if (errors.length === 0 || !concerned) return some;
  return checks.filter((check) => check.id === errorsCheck || some.includes(check));
}

const errorsCheck = 'SVC-CONFIG-001';

/** What to ignore, by id: everything that the check reports, or its findings on some subjects. */
export interface Ignores {
  ignoresCheck(id: string): boolean;
  ignoresSubject(id: string, subject: string): boolean;
  /** Warnings about unknown ids. */
  readonly warnings: readonly string[];
}

/** @param given `SVC-…-001` or `SVC-…-001=namespace/name` */
export function readIgnores(given: readonly string[], checks: readonly Check[]): Ignores {
  const whole = new Set<string>();
  const parts = new Set<string>();
  for (const one of given) (one.includes('=') ? parts : whole).add(one);
  const known = new Set(checks.map(({ id }) => id));
  return {
    ignoresCheck: (id) => whole.has(id),
    ignoresSubject: (id, subject) => whole.has(id) || parts.has(`${id}=${subject}`),
    warnings: given
      .filter((one) => !known.has(one.split('=', 1)[0] ?? ''))
      .map((one) => `--ignore ${JSON.stringify(one)}: there is no check with that id`),
  };
}
