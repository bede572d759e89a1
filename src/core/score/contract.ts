import { applicationContainers, asksForWrapper, isWrapped } from '../injection/protected-pods.ts';
import type { Container, Pod } from '../kubernetes/pod.ts';
import type { ProtectionReport } from '../protection/report.ts';

/** One part of a score; `points` of at most `of`, the `of` of all parts sum to 100. Unknowns count 0. */
export interface Factor {
  /** Such as `wrapper` or `enforcement`. */
  readonly name: string;
  readonly points: number;
  readonly of: number;
  /** What is there or missing, as a sentence. */
  readonly because: string;
  /** The remedy for missing points; absent if none are missing. */
  readonly remedy?: string;
}

export interface Finding {
  /** Such as `secret-reference`. */
  readonly id: string;
  readonly message: string;
}

/** The kinds that are scored: controllers of pods, and pods without one. */
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
  /** Empty where it has none now: `template` is judged then. */
  readonly pods: readonly PodProtection[];
  readonly template?: Pod;
  /** Undefined: not known. */
  readonly egressPolicy: boolean | undefined;
  /** Names of further policies that let its pods reach more than that one; absent: none. */
  readonly wideningPolicies?: readonly string[];
}

export interface PodProtection {
  readonly pod: Pod;
  /** What the agent of its node enforces; undefined: no agent tells. */
  readonly agent: AgentProtection | undefined;
  /** The last measurements of its wrappers, reported by the agent; may be empty. */
  readonly reports: readonly Omit<ProtectionReport, 'pid' | 'start' | 'podUid'>[];
}

export interface AgentProtection {
  /** 1 to 4, see core/protection/tier. */
  readonly tier: number;
  readonly enforcing: boolean;
  /** The table in the kernel holds its cgroup, or processes of it that registered. */
  readonly covered: boolean;
  /** Why it is not, as a sentence of the agent's; empty where none was told. */
  readonly uncoveredReason?: string;
}

export interface Score extends WorkloadName {
  /** 0 to 100. */
  readonly score: number;
  readonly pods: number;
  /** Every pod carries the wrapper. */
  readonly protected: boolean;
  /** Every pod is covered on its node, and reads of it by others are denied there, or their readers killed. */
  readonly enforced: boolean;
  readonly addends: readonly Factor[];
  readonly findings: readonly Finding[];
}

/** What one factor is worth and why; a remedy wherever points are missing. */
export interface Judgement {
  readonly points: number;
  readonly because: string;
  readonly remedy?: string;
}

/** One part of a score. */
export interface ScoreRule {
  readonly name: string;
  /** The most points that it gives. */
  readonly of: number;
  readonly judge: (subject: Subject) => Judgement;
}

/** The lowest; the first of equal ones. */
export function lowest(judgements: readonly Judgement[]): Judgement | undefined {
  return judgements.reduce<Judgement | undefined>(
    (least, one) => (least === undefined || one.points < least.points ? one : least),
    undefined,
  );
}

/** One pod, running or future, as the rules see it. */
export interface Subject {
  readonly pod: Pod;
  /** It exists; otherwise it is a template before the webhook. */
  readonly exists: boolean;
  /** Containers of the application: neither sidecars of a mesh nor our proxy. */
  readonly applications: readonly Container[];
  /** Those of them that start under the wrapper. */
  readonly wrapped: readonly Container[];
  readonly agent: AgentProtection | undefined;
  readonly reports: PodProtection['reports'];
  readonly egressPolicy: boolean | undefined;
  readonly wideningPolicies: readonly string[];
}

type Egress = Pick<Subject, 'egressPolicy' | 'wideningPolicies'>;

/** Its pods, or its template where it has none now. */
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

/** The webhook lets no pod start that asks for the wrapper and does not get it. */
function planned(pod: Pod, egress: Egress): Subject {
  const applications = applicationContainers(pod);
  const wrapped = asksForWrapper(pod) ? applications : [];
  return { pod, exists: false, applications, wrapped, agent: undefined, reports: [], ...egress };
}
