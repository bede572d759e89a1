import type { KnownPod } from '../../cluster/known.ts';
import type { PodProtection, WorkloadFacts } from '../contract.ts';
import type { AgentsTold } from './agents-told.ts';
import { asPlanned, type Wishes } from './concerned.ts';
import type { Group } from './groups.ts';

export interface Surroundings extends Wishes {
  readonly nodes: AgentsTold;
  readonly egressPolicy: boolean | undefined;
  readonly wideningPolicies: readonly string[];
}

export function factsOf({ name, pods, template }: Group, surroundings: Surroundings): WorkloadFacts {
  const { nodes, egressPolicy, wideningPolicies } = surroundings;
  return {
    ...name,
    pods: begun(pods).map((pod) => protectionOf(pod, nodes)),
    ...(template === undefined ? {} : { template: asPlanned(template, surroundings) }),
    ...{ egressPolicy, wideningPolicies },
  };
}

/** A pod that has not begun has no secret yet: it lowers nothing while others of its workload run. */
function begun(pods: readonly KnownPod[]): readonly KnownPod[] {
  const running = pods.filter(({ pod }) => pod.status?.phase !== 'Pending');
  return running.length > 0 ? running : pods;
}

function protectionOf({ pod, uid }: KnownPod, nodes: AgentsTold): PodProtection {
  const { nodeName } = pod.spec;
  const state = nodeName === undefined ? undefined : nodes.agentOf(nodeName);
  if (state === undefined) return { pod, agent: undefined, reports: [] };
  const known = state.pods.get(uid);
  const { uncoveredReason = '', covered: byLabel = false, processes = 0 } = known ?? {};
  // that some of its processes are covered does not make up for those that are not
  const covered = uncoveredReason === '' && (byLabel || processes > 0);
  const { tier, enforcing } = state;
  const agent = { tier, enforcing, covered, uncoveredReason };
  return { pod, agent, reports: known?.reports ?? [] };
}
