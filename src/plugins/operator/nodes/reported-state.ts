import { type Tier, tierNames } from '../../../core/protection/tier.ts';
import type { NodeAgentState, ReportedPod } from '../contract.ts';
import { measuredOf } from './measured.ts';
import type { NodeStateMessage, ProtectedPodMessage } from './messages.ts';

const tierOf: ReadonlyMap<unknown, Tier> = new Map(
  Object.entries(tierNames).map(([tier, name]) => [`TIER_${name.toUpperCase()}`, Number(tier) as Tier]),
);

/** Nothing: what a tier that was not told, or is of a later version, can be relied on for. */
const noTier: Tier = 4;

/** Bound of the schema. */
const longestReason = 500;

/** What a node's agent enforces, and for whom. */
export function reportedState(node: string, { tier, enforcing, pods }: NodeStateMessage): NodeAgentState {
  const known = tierOf.get(tier) ?? noTier;
  return { node, tier: known, enforcing: enforcing && known !== noTier, pods: podsOf(pods) };
}

/** Processes that belong to no pod are left out. */
function podsOf(messages: readonly ProtectedPodMessage[]): ReadonlyMap<string, ReportedPod> {
  return new Map(messages.filter(({ podUid }) => podUid !== '').map((pod) => [pod.podUid, podOf(pod)]));
}

function podOf({ covered, uncoveredReason, processes }: ProtectedPodMessage): ReportedPod {
  const reports = processes.flatMap(({ measured }) => (measured === null ? [] : [measuredOf(measured)]));
  return {
    covered,
    uncoveredReason: uncoveredReason.slice(0, longestReason),
    processes: processes.length,
    reports,
  };
}
