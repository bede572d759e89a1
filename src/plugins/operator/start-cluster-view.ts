import type { KubeClient, KubeObject } from '../../cluster/kube/client.ts';
import { ownerOf } from '../../cluster/kube/known-objects.ts';
import {
  type Marking,
  markingOfNamespaces,
  markingOfPods,
  markingOfSecretMappings,
  markingOfServiceConfigs,
  markingOfWorkloads,
} from '../../cluster/kube/marks.ts';
import {
  createIntern,
  type PodObject,
  projectNamespace,
  projectPod,
  projectSecretMapping,
  projectServiceConfig,
  projectWorkload,
  type WorkloadObject,
} from '../../cluster/kube/project-objects.ts';
import type { ReflectTiming } from '../../cluster/kube/reflect.ts';
import { apiVersion } from '../../cluster/resources/resources.ts';
import { messageOf } from '../../runtime/errors.ts';
import type { Health, Metrics } from '../../runtime/health/health.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import { createClusterRoom } from './cluster-room.ts';
import {
  type ClusterView,
  type Following,
  follow,
  type KnownWorkload,
  type Workloads,
} from './cluster-view.ts';

export interface ClusterViewOptions {
  readonly client: KubeClient;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly health: Health;
  readonly signal: AbortSignal;
  readonly timing?: Partial<ReflectTiming>;
  /** How long a watch may be interrupted before health reports it. Default: a minute. */
  readonly staleMs?: number;
}

/** Workloads to list and watch besides pods; the operator's role allows exactly these. */
const workloadPaths: Readonly<Record<string, string>> = {
  Deployment: '/apis/apps/v1/deployments',
  StatefulSet: '/apis/apps/v1/statefulsets',
  DaemonSet: '/apis/apps/v1/daemonsets',
  ReplicaSet: '/apis/apps/v1/replicasets',
  Job: '/apis/batch/v1/jobs',
  CronJob: '/apis/batch/v1/cronjobs',
};

/**
 * Shorter than usual, so that a server that hangs without closing its connections is noticed after little more than
 * two minutes.
 */
const watchMs = 60_000;

/** Follows the cluster until the signal is aborted; `closed` resolves when no work is in progress. */
export function startClusterView(
  options: ClusterViewOptions,
): ClusterView & { readonly closed: Promise<void> } {
  const { client, log, signal } = options;
  const intern = createIntern();
  const state = createWatchState(options.health, options.metrics, options.staleMs);
  const all: Following<unknown>[] = [];
  const keepingOf = createClusterRoom(log, options.metrics);
  const followAll = <O extends KubeObject, T extends { readonly name: string }>(
    path: string,
    project: (object: O) => T,
    marking: Marking<T>,
  ): Following<T> => {
    const resource = path.slice(path.lastIndexOf('/') + 1);
    const heard = state.of(resource);
    const timing = { watchMs, ...options.timing };
    const keeping = keepingOf(resource, marking);
    const following = follow<O, T>({ client, log, signal, path, project, keeping, ...heard, timing });
    all.push(following);
    return following;
  };
  const workloads = Object.entries(workloadPaths).map(([kind, path]): [string, Following<KnownWorkload>] => [
    kind,
    followAll<WorkloadObject, KnownWorkload>(
      path,
      (object) => projectWorkload(kind, object, intern),
      markingOfWorkloads,
    ),
  ]);
  const view = {
    namespaces: followAll('/api/v1/namespaces', projectNamespace, markingOfNamespaces),
    serviceConfigs: followAll(
      `/apis/${apiVersion}/serviceconfigs`,
      projectServiceConfig,
      markingOfServiceConfigs,
    ),
    secretMappings: followAll(
      `/apis/${apiVersion}/secretmappings`,
      projectSecretMapping,
      markingOfSecretMappings,
    ),
    pods: followAll('/api/v1/pods', (object: PodObject) => projectPod(object, intern), markingOfPods),
    workloads: allWorkloads(new Map(workloads)),
    keepingOf,
    synced: false,
  };
  const synced = Promise.all(all.map((following) => following.whenSynced())).then(() => {
    view.synced = true;
  });
  const closed = Promise.all(all.map((following) => following.closed)).then(state.close);
  return Object.assign(view, { whenSynced: () => synced, closed });
}

type ByKind = ReadonlyMap<string, Following<KnownWorkload>>;

/** Workloads of all kinds as one, by `kind/namespace/name`. */
function allWorkloads(byKind: ByKind): Workloads {
  const all = [...byKind.values()];
  const get = (key: string) => {
    const [kind = '', namespace, name] = key.split('/');
    return byKind.get(kind)?.get(`${namespace}/${name}`);
  };
  return {
    get,
    ownerOf: (pod) => ownerOf(pod, get),
    *values() {
      for (const following of all) yield* following.values();
    },
    get size() {
      return all.reduce((sum, { size }) => sum + size, 0);
    },
    get synced() {
      return all.every(({ synced }) => synced);
    },
    onChange(handle) {
      for (const following of all) following.onChange(handle);
    },
  };
}

/** Longer than an API server's restart, and than the pauses between attempts. */
export const defaultStaleMs = 60_000;

/** Changes of one kind of object, from a reflector. */
export interface Heard {
  readonly onListed: () => void;
  readonly onConnected: (connected: boolean) => void;
  /** The error's message is shown with the problem while it lasts. */
  readonly onFailed: (error: unknown) => void;
}

/** Whether the local copy of each kind of object is reliable. */
export interface WatchState {
  /** @param resource such as `pods`; counts as not listed until `onListed` */
  of(resource: string): Heard;
  close(): void;
}

/**
 * Not ready until every kind has been listed once; degraded while a watch has been interrupted for longer than
 * `staleMs`.
 */
export function createWatchState(health: Health, metrics: Metrics, staleMs = defaultStaleMs): WatchState {
  const open = metrics.gauge('svc_cluster_watch_connected', '1 while the watch of these objects is open', [
    'resource',
  ]);
  const closers: (() => void)[] = [];
  return {
    of(resource) {
      const listing = createListing(resource, health);
      const watching = createWatching(resource, health, staleMs);
      closers.push(watching.close);
      open.set(0, { resource });
      return {
        onListed: listing.done,
        onConnected(connected) {
          open.set(connected ? 1 : 0, { resource });
          if (connected) watching.heard();
          else watching.lost();
        },
        onFailed(error) {
          const reason = messageOf(error);
          listing.failed(reason);
          watching.failed(reason);
        },
      };
    },
    close() {
      for (const close of closers) close();
    },
  };
}

function createListing(resource: string, health: Health) {
  const condition = `cluster.${resource}`;
  const what = `the ${resource} of the cluster are not listed yet`;
  let listed = false;
  health.notReady(condition, what);
  return {
    done() {
      listed = true;
      health.ready(condition);
    },
    failed(reason: string) {
      if (!listed) health.notReady(condition, `${what}: ${reason}`);
    },
  };
}

function createWatching(resource: string, health: Health, staleMs: number) {
  const condition = `watch.${resource}`;
  let timer: NodeJS.Timeout | undefined;
  let since = '';
  let why = '';
  let stale = false;
  const degrade = () => {
    stale = true;
    health.degraded(condition, `nothing is heard of ${resource} since ${since}${why}`);
  };
  const lost = () => {
    since = new Date().toISOString();
    clearTimeout(timer);
    timer = setTimeout(degrade, staleMs);
  };
  lost();
  return {
    lost,
    heard() {
      clearTimeout(timer);
      why = '';
      stale = false;
      health.recovered(condition);
    },
    failed(reason: string) {
      why = `: ${reason}`;
      if (stale) degrade();
    },
    close: () => clearTimeout(timer),
  };
}
