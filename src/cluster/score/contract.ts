import type { ProtectionReport } from '../../runtime/protocols/protection/report.ts';
import { applicationContainers, asksForWrapper, isWrapped } from '../injection/protected-pods.ts';
import type { Container, Pod } from '../kube/pod.ts';

/** One part of a score: `points` out of `of`; the `of` of all parts sum to 100. Unknowns count 0. */
export interface Factor {
  /** Such as `wrapper` or `enforcement`. */
  readonly name: string;
  readonly points: number;
  readonly of: number;
  /** What is present or missing, as a sentence. */
  readonly because: string;
  /** The remedy for missing points; absent if none are missing. */
  readonly remedy?: string;
}

export interface Finding {
  /** Such as `secret-reference`. */
  readonly id: string;
  readonly message: string;
}

/** Kinds that are scored: controllers of pods, and pods without one. */
export type WorkloadKind =
  | 'Deployment'
  | 'StatefulSet'
  | 'DaemonSet'
  | 'ReplicaSet'
  | 'Job'
  | 'CronJob'
  | 'Pod';

export interface WorkloadName {
  readonly kind: WorkloadKind | string;
  readonly namespace: string;
  readonly name: string;
}

/** Everything that a score is computed from; the score of a workload is that of its worst pod. */
export interface WorkloadFacts extends WorkloadName {
  /** Empty if there are none now; then `template` is scored. */
  readonly pods: readonly PodProtection[];
  readonly template?: Pod;
  /** Undefined: unknown. */
  readonly egressPolicy: boolean | undefined;
  /** Names of further policies that let the workload's pods reach more; absent: none. */
  readonly wideningPolicies?: readonly string[];
}

export interface PodProtection {
  readonly pod: Pod;
  /** What the agent of the pod's node enforces; undefined: no agent reports. */
  readonly agent: AgentProtection | undefined;
  /** Last measurements of the pod's wrappers, reported by the agent; may be empty. */
  readonly reports: readonly Omit<ProtectionReport, 'pid' | 'start' | 'podUid'>[];
}

export interface AgentProtection {
  /** 1 to 4, see core/protection/tier. */
  readonly tier: number;
  readonly enforcing: boolean;
  /** The kernel's table contains the pod's cgroup, or processes of it that registered. */
  readonly covered: boolean;
  /** The agent's reason why it is not covered, as a sentence; empty if it gave none. */
  readonly uncoveredReason?: string;
}

export interface Score extends WorkloadName {
  /** 0 to 100. */
  readonly score: number;
  readonly pods: number;
  /** Whether every pod carries the wrapper. */
  readonly protected: boolean;
  /** Whether every pod is covered on its node, and foreign reads are denied there or their readers killed. */
  readonly enforced: boolean;
  readonly addends: readonly Factor[];
  readonly findings: readonly Finding[];
}

/** Points of one factor and the reason; a remedy if points are missing. */
export interface Judgement {
  readonly points: number;
  readonly because: string;
  readonly remedy?: string;
}

/** Rule for one part of a score. */
export interface ScoreRule {
  readonly name: string;
  /** Maximum points. */
  readonly of: number;
  readonly judge: (subject: Subject) => Judgement;
}

/** The judgement with the fewest points; the first of equal ones. */
export function lowest(judgements: readonly Judgement[]): Judgement | undefined {
  return judgements.reduce<Judgement | undefined>(
    (least, one) => (least === undefined || one.points < least.points ? one : least),
    undefined,
  );
}

/** A pod as the rules see it, running or future. */
export interface Subject {
  readonly pod: Pod;
  /** True for an existing pod; false for a template that the webhook has not seen. */
  readonly exists: boolean;
  /** Containers of the application: neither mesh sidecars nor our proxy. */
  readonly applications: readonly Container[];
  /** Those of `applications` that start under the wrapper. */
  readonly wrapped: readonly Container[];
  readonly agent: AgentProtection | undefined;
  readonly reports: PodProtection['reports'];
  readonly egressPolicy: boolean | undefined;
  readonly wideningPolicies: readonly string[];
}

type Egress = Pick<Subject, 'egressPolicy' | 'wideningPolicies'>;

/** The workload's pods, or its template if it has none now. */
export function subjectsOf(facts: WorkloadFacts): readonly Subject[] {
  const { pods, template, egressPolicy, wideningPolicies = [] } = facts;
  const egress = { egressPolicy, wideningPolicies };
  if (pods.length > 0) return pods.map((one) => running(one, egress));
  return template === undefined ? [] : [planned(template, egress)];
}

function running({ pod, agent, reports }: PodProtection, egress: Egress): Subject {
  const applications = applicationContainers(pod);
  const wrapped = applications.filter((container) => isWrapped(container, pod));
  return { pod, exists: true, applications, wrapped, agent, reports, ...egress };
}

/** The webhook rejects pods that ask for the wrapper and cannot get it. */
function planned(pod: Pod, egress: Egress): Subject {
  const applications = applicationContainers(pod);
  const wrapped = asksForWrapper(pod) ? applications : [];
  return { pod, exists: false, applications, wrapped, agent: undefined, reports: [], ...egress };
}
