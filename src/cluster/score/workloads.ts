import { asksForWrapper, type ConfigSelection, isOver } from '../injection/protected-pods.ts';
import type { KnownPod, KnownWorkload, OwnerOf } from '../kube/known-objects.ts';
import { isLabelled } from '../kube/labels.ts';
import type { Pod } from '../kube/pod.ts';
import type { PodProtection, WorkloadFacts, WorkloadName } from './contract.ts';

export interface WorkloadContext extends RequestedSettings {
  readonly nodes: AgentsTold;
  readonly egressPolicy: boolean | undefined;
  readonly wideningPolicies: readonly string[];
}

export function factsOf({ name, pods, template }: Group, surroundings: WorkloadContext): WorkloadFacts {
  const { nodes, egressPolicy, wideningPolicies } = surroundings;
  return {
    ...name,
    pods: begun(pods).map((pod) => protectionOf(pod, nodes)),
    ...(template === undefined ? {} : { template: asPlanned(template, surroundings) }),
    egressPolicy,
    wideningPolicies,
  };
}

/** A pod that has not started has no secrets yet, so it does not lower the score while others run. */
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
  // partial coverage does not count
  const covered = uncoveredReason === '' && (byLabel || processes > 0);
  const { tier, enforcing } = state;
  const agent = { tier, enforcing, covered, uncoveredReason };
  return { pod, agent, reports: known?.reports ?? [] };
}

interface RequestedSettings {
  /** The namespace is labelled, so all of its workloads are scored. */
  readonly labelled: boolean;
  readonly configOf: ConfigSelection;
}

/** Whether to score a workload: it is protected, should be, or is in a namespace with protected pods. */
export function isConcerned({ pods, template }: Group, wishes: RequestedSettings): boolean {
  if (wishes.labelled) return true;
  const all = [...pods.map(({ pod }) => pod), ...(template === undefined ? [] : [template])];
  return all.some((pod) => isLabelled(pod.metadata.labels) || asksForWrapper(pod) || isSelected(pod, wishes));
}

/**
 * The template as the webhook will see it: a pod that a ServiceConfig selects asks for the wrapper unless it opts out.
 */
function asPlanned(template: Pod, wishes: RequestedSettings): Pod {
  const { metadata } = template;
  if (metadata.annotations?.['svc/inject'] !== undefined || !isSelected(template, wishes)) return template;
  return {
    ...template,
    metadata: { ...metadata, annotations: { ...metadata.annotations, 'svc/inject': 'true' } },
  };
}

const isSelected = (pod: Pod, { configOf }: RequestedSettings): boolean => configOf(pod) !== undefined;

/** A workload with its pods, except pods that have ended. */
export interface Group {
  readonly name: WorkloadName;
  readonly pods: KnownPod[];
  template: Pod | undefined;
}

/** The workloads of one namespace; a Job counts only while it has pods, because it remains after its end. */
export function groupsOf(
  pods: Iterable<KnownPod>,
  templates: Iterable<KnownWorkload>,
  ownerOf: OwnerOf,
): readonly Group[] {
  const groups = new Map<string, Group>();
  const groupOf = ({ kind, namespace, name }: WorkloadName): Group => {
    const key = `${kind}/${name}`;
    const group = groups.get(key) ?? { name: { kind, namespace, name }, pods: [], template: undefined };
    groups.set(key, group);
    return group;
  };
  for (const pod of pods) if (!isOver(pod.pod)) groupOf(ownerOf(pod)).pods.push(pod);
  for (const workload of templates) groupOf(workload).template = workload.template;
  return [...groups.values()].filter(({ name, pods }) => pods.length > 0 || name.kind !== 'Job');
}

/** Reports of the node agents. */
export interface AgentsTold {
  /** State of a node's agent; undefined if unknown. */
  agentOf(node: string): NodeAgentState | undefined;
}

export interface NodeAgentState {
  readonly node: string;
  readonly tier: number;
  readonly enforcing: boolean;
  /** Why the agent does not enforce, as its own sentence; empty if it does. */
  readonly reason: string;
  /** Highest tier first; includes the tier in force if it is incomplete. */
  readonly passedOver: readonly PassedOverTier[];
  /** By pod UID. */
  readonly pods: ReadonlyMap<string, ReportedPod>;
}

export interface PassedOverTier {
  readonly tier: number;
  /** Why the tier is not in force, in the agent's words. */
  readonly reason: string;
}

export interface ReportedPod {
  /** The pod's cgroup is covered; its label alone is only a request. */
  readonly covered: boolean;
  /** Why a labelled pod is not covered; otherwise empty. */
  readonly uncoveredReason: string;
  readonly processes: number;
  readonly reports: PodProtection['reports'];
}
