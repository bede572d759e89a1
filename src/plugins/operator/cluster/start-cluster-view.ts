import { apiVersion } from '../../../core/custom-resources/condition.ts';
import { createIntern } from '../../../runtime/cluster/intern.ts';
import {
  projectNamespace,
  projectSecretMapping,
  projectServiceConfig,
} from '../../../runtime/cluster/project-objects.ts';
import { type PodObject, projectPod } from '../../../runtime/cluster/project-pod.ts';
import { projectWorkload, type WorkloadObject } from '../../../runtime/cluster/project-workload.ts';
import type { Health } from '../../../runtime/health/health.ts';
import type { Metrics } from '../../../runtime/health/metrics.ts';
import type { KubeClient } from '../../../runtime/kube/client.ts';
import type { KubeObject } from '../../../runtime/kube/objects.ts';
import type { ReflectTiming } from '../../../runtime/kube/reflect-options.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import type { ClusterView, KnownWorkload } from './contract.ts';
import { type Following, follow } from './follow.ts';
import { createWatchState } from './watch-state.ts';
import { allWorkloads } from './workloads.ts';

export interface ClusterViewOptions {
  readonly client: KubeClient;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly health: Health;
  readonly signal: AbortSignal;
  readonly timing?: Partial<ReflectTiming>;
  /** How long a watch may be away before health says so. Default: a minute. */
  readonly staleMs?: number;
}

/** What is listed and watched beside the pods; the role of the operator allows exactly these. */
const workloadPaths: Readonly<Record<string, string>> = {
  Deployment: '/apis/apps/v1/deployments',
  StatefulSet: '/apis/apps/v1/statefulsets',
  DaemonSet: '/apis/apps/v1/daemonsets',
  ReplicaSet: '/apis/apps/v1/replicasets',
  Job: '/apis/batch/v1/jobs',
  CronJob: '/apis/batch/v1/cronjobs',
};

/** Shorter than usual: a server that hangs without closing its connections is noticed after two minutes and a bit. */
const watchMs = 60_000;

/** Follows the cluster until the signal is aborted; `closed` resolves when nothing of it is under way. */
export function startClusterView(
  options: ClusterViewOptions,
): ClusterView & { readonly closed: Promise<void> } {
  const { client, log, signal } = options;
  const intern = createIntern();
  const state = createWatchState(options.health, options.metrics, options.staleMs);
  const all: Following<unknown>[] = [];
  const followAll = <O extends KubeObject, T>(path: string, project: (object: O) => T): Following<T> => {
    const heard = state.of(path.slice(path.lastIndexOf('/') + 1));
    const timing = { watchMs, ...options.timing };
    const following = follow<O, T>({ client, log, signal, path, project, ...heard, timing });
    all.push(following);
    return following;
  };
  const workloads = Object.entries(workloadPaths).map(([kind, path]): [string, Following<KnownWorkload>] => [
    kind,
    followAll<WorkloadObject, KnownWorkload>(path, (object) => projectWorkload(kind, object, intern)),
  ]);
  // asked for by each review
  let synced: Promise<void> | undefined;
  return {
    namespaces: followAll('/api/v1/namespaces', projectNamespace),
    serviceConfigs: followAll(`/apis/${apiVersion}/serviceconfigs`, projectServiceConfig),
    secretMappings: followAll(`/apis/${apiVersion}/secretmappings`, projectSecretMapping),
    pods: followAll('/api/v1/pods', (object: PodObject) => projectPod(object, intern)),
    workloads: allWorkloads(new Map(workloads)),
    whenSynced() {
      synced ??= Promise.all(all.map((following) => following.whenSynced())).then(() => {});
      return synced;
    },
    closed: Promise.all(all.map(({ closed }) => closed)).then(state.close),
  };
}
