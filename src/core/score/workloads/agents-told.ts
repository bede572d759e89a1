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
  /** By UID of the pod. */
  readonly pods: ReadonlyMap<string, ReportedPod>;
}

export interface ReportedPod {
  readonly labelled: boolean;
  readonly processes: number;
  readonly reports: PodProtection['reports'];
}
