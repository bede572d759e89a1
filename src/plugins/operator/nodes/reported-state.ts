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

/** What a node's agent enforces, for whom, and why nothing better. */
export function reportedState(node: string, message: NodeStateMessage): NodeAgentState {
  const tier = tierOf.get(message.tier) ?? noTier;
  return {
    ...{ node, tier, enforcing: message.enforcing && tier !== noTier },
    reason: clipped(message.reason),
    passedOver: passedOverOf(message.passedOver),
    pods: podsOf(message.pods),
  };
}

/** One reason for each tier that is known, however often it is told. */
function passedOverOf(messages: NodeStateMessage['passedOver']): NodeAgentState['passedOver'] {
  const reasons = new Map<Tier, string>();
  for (const { tier, reason } of messages) {
    const known = tierOf.get(tier);
    if (known !== undefined && !reasons.has(known)) reasons.set(known, clipped(reason));
  }
  return [...reasons].map(([tier, reason]) => ({ tier, reason })).sort((a, b) => a.tier - b.tier);
}

/** No half of a character that takes two units: the API server would keep another text than was written. */
const clipped = (text: string): string => text.slice(0, longestReason).toWellFormed();

/** Processes that belong to no pod are left out. */
function podsOf(messages: readonly ProtectedPodMessage[]): ReadonlyMap<string, ReportedPod> {
  return new Map(messages.filter(({ podUid }) => podUid !== '').map((pod) => [pod.podUid, podOf(pod)]));
}

function podOf({ covered, uncoveredReason, processes }: ProtectedPodMessage): ReportedPod {
  const reports = processes.flatMap(({ measured }) => (measured === null ? [] : [measuredOf(measured)]));
  return {
    covered,
    uncoveredReason: clipped(uncoveredReason),
    processes: processes.length,
    reports,
  };
}
