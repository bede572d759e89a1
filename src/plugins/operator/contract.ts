import type { InjectionDefaults } from '../../core/injection/contract.ts';
import type { AgentsTold, NodeAgentState, ReportedPod } from '../../core/score/workloads.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import type { ClusterView } from './cluster-view.ts';

/** What every part of the operator is given. */
export interface OperatorDeps {
  readonly client: KubeClient;
  readonly cluster: ClusterView;
  readonly defaults: InjectionDefaults;
  /** Its own namespace, which is never mutated. */
  readonly namespace: string;
  readonly log: Logger;
  /** Aborted when the operator is to end. */
  readonly signal: AbortSignal;
}

export type { Leadership } from '../../runtime/kube/lease.ts';

export type { NodeAgentState, ReportedPod };

/** What the agents have reported within 40 s; only the leader keeps it. */
export interface NodeReports extends AgentsTold {
  agents(): IterableIterator<NodeAgentState>;
}
