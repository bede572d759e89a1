import type { Health } from '../../../runtime/health/health.ts';
import type { Metrics } from '../../../runtime/health/metrics.ts';
import type { Round } from './coverage.ts';

/** Shows the state of the pod watch: by metrics, and in the body of `/healthz` where pods may be uncovered. */
export interface PodWatchState {
  connected(connected: boolean): void;
  round(round: Round): void;
  nodeKnown(known: boolean): void;
  /** A condition that lasts as long as this process, such as a wrong configuration. */
  broken(reason: string): void;
}

export function createPodWatchState(metrics: Metrics, health: Health): PodWatchState {
  const pods = metrics.gauge('svc_agent_protected_pods', 'Pods on this node whose cgroup is covered');
  const link = metrics.gauge('svc_agent_pod_watch_connected', '1 while the pods of this node are followed');
  pods.set(0);
  link.set(0);
  return {
    connected(connected) {
      link.set(connected ? 1 : 0);
      if (connected) health.recovered('pods');
      else
        health.degraded(
          'pods',
          'The API server is away: pods that came since are not covered by their label.',
        );
    },
    round({ covered, failures }) {
      pods.set(covered);
      if (failures.length === 0) health.recovered('pod cgroups');
      else health.degraded('pod cgroups', failures.join('; '));
    },
    nodeKnown(known) {
      if (known) health.recovered('node name');
      else
        health.degraded(
          'node name',
          'The cluster has no node of this name: no pod is followed; set NODE_NAME.',
        );
    },
    broken: (reason) => health.degraded('pod watch', reason),
  };
}
