import { type Tier, tierNames } from '../../../../core/protection/tier.ts';
import { samplesOf, sumOf } from '../../cluster/metrics-text.ts';

/** What an agent's metrics say. */
export interface AgentFacts {
  /** Undefined: none is in force yet. */
  readonly tier: Tier | undefined;
  readonly enforcing: boolean;
  /** What its tables in the kernel had no room for, since it started. */
  readonly lost: number;
  /** The operator answers its reports; undefined: it has none to report to. */
  readonly isHeard: boolean | undefined;
  /** How many pods' cgroups are in the table in the kernel. */
  readonly coveredPods: number;
  /** `namespace/name` of pods that are labelled and not covered. */
  readonly uncoveredPods: readonly string[];
}

/** Undefined where the page is none of an agent. */
export function agentFacts(page: string): AgentFacts | undefined {
  const tiers = samplesOf(page, 'svc_agent_tier');
  if (tiers.length === 0) return undefined;
  const name = tiers.find(({ value }) => value === 1)?.labels['tier'];
  const found = Object.entries(tierNames).find(([, known]) => known === name)?.[0];
  const connected = sumOf(page, 'svc_agent_operator_connected');
  return {
    tier: found === undefined ? undefined : (Number(found) as Tier),
    enforcing: sumOf(page, 'svc_agent_enforcing') === 1,
    lost: sumOf(page, 'svc_agent_lost_total') ?? 0,
    isHeard: connected === undefined ? undefined : connected === 1,
    coveredPods: sumOf(page, 'svc_agent_protected_pods') ?? 0,
    uncoveredPods: samplesOf(page, 'svc_agent_uncovered_pods').map(
      ({ labels }) => `${labels['namespace']}/${labels['pod']}`,
    ),
  };
}
