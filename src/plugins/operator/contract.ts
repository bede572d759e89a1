import type { InjectionDefaults } from '../../core/injection/contract.ts';
import type { AgentsTold, NodeAgentState, ReportedPod } from '../../core/score/workloads.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import type { ClusterView } from './cluster-view.ts';

/** Dependencies of every part of the operator. */
export interface OperatorDeps {
  readonly client: KubeClient;
  readonly cluster: ClusterView;
  readonly defaults: InjectionDefaults;
  /** The operator's own namespace, whose pods are never mutated. */
  readonly namespace: string;
  readonly log: Logger;
  /** Aborted when the operator must end. */
  readonly signal: AbortSignal;
}

export type { Leadership } from '../../runtime/kube/lease.ts';

export type { NodeAgentState, ReportedPod };

/** What the agents have reported within the last 40 s; only the leader keeps reports. */
export interface NodeReports extends AgentsTold {
  agents(): IterableIterator<NodeAgentState>;
}
