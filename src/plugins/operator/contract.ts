import type { InjectionDefaults } from '../../cluster/injection/contract.ts';
import type { KubeClient } from '../../cluster/kube/client.ts';
import type { AgentsTold, NodeAgentState, ReportedPod } from '../../cluster/score/workloads.ts';
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

export type { Leadership } from '../../cluster/kube/lease.ts';

export type { NodeAgentState, ReportedPod };

/** What the agents have reported within the last 40 s; only the leader keeps reports. */
export interface NodeReports extends AgentsTold {
  agents(): IterableIterator<NodeAgentState>;
}
