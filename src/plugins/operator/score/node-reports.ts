import { isOver } from '../../../core/cluster/protected.ts';
import type { NodeReport } from '../../../core/custom-resources/protection-report.ts';
import type { NodeAgentState } from '../contract.ts';
import type { ScoreDeps } from './deps.ts';

/** What the agents tell of the nodes that pods of a namespace run on; nodes whose agent is silent are left out. */
export function nodeReports(
  { indexes, nodes }: Pick<ScoreDeps, 'indexes' | 'nodes'>,
  namespace: string,
): readonly NodeReport[] {
  const names = new Set<string>();
  for (const { pod } of indexes.pods.in(namespace)) {
    if (pod.spec.nodeName !== undefined && !isOver(pod)) names.add(pod.spec.nodeName);
  }
  return [...names].flatMap((name) => {
    const state = nodes.agentOf(name);
    return state === undefined ? [] : [nodeReport(state)];
  });
}

function nodeReport({ node, tier, enforcing, reason, passedOver }: NodeAgentState): NodeReport {
  return {
    ...{ name: node, tier, enforcing },
    ...(reason !== '' && { reason }),
    ...(passedOver.length > 0 && { passedOver }),
  };
}
