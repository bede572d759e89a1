import type { PodProtection } from '../contract.ts';

/** What the agents have told. */
export interface AgentsTold {
  /** By the node's name; undefined where nothing is known of its agent. */
  agentOf(node: string): NodeAgentState | undefined;
}

export interface NodeAgentState {
  readonly node: string;
  readonly tier: number;
  readonly enforcing: boolean;
  /** Why it does not enforce, as a sentence of the agent's; empty when it does. */
  readonly reason: string;
  /** Highest tier first; the one in force is among them where it lacks something. */
  readonly passedOver: readonly PassedOverTier[];
  /** By UID of the pod. */
  readonly pods: ReadonlyMap<string, ReportedPod>;
}

export interface PassedOverTier {
  readonly tier: number;
  /** Why it is not in force, as the agent says it. */
  readonly reason: string;
}

export interface ReportedPod {
  /** Its cgroup is covered; a label alone only asks for that. */
  readonly covered: boolean;
  /** Why a labelled pod is not covered; else empty. */
  readonly uncoveredReason: string;
  readonly processes: number;
  readonly reports: PodProtection['reports'];
}
