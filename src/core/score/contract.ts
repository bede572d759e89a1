import type { Pod } from '../kubernetes/pod.ts';
import type { ProtectionReport } from '../protection/report.ts';

/** One part of a score; `points` of at most `of`, the `of` of all parts sum to 100. What is unknown counts 0. */
export interface Addend {
  /** Such as `wrapper` or `enforcement`. */
  readonly name: string;
  readonly points: number;
  readonly of: number;
  /** What is there or missing, as a sentence. */
  readonly because: string;
  /** What would bring the missing points; absent where none are missing. */
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
  /** What its wrappers have last told, through the agent; empty: nothing. */
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
  readonly addends: readonly Addend[];
  readonly findings: readonly Finding[];
}
