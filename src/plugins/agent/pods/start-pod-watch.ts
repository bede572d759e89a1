import { messageOf } from '../../../core/errors.ts';
import type { ComponentDeps } from '../../../runtime/component/contract.ts';
import type { KubeClient } from '../../../runtime/kube/client.ts';
import { createKubeClient } from '../../../runtime/kube/create-client.ts';
import type { Reflector, ReflectTiming } from '../../../runtime/kube/reflect-options.ts';
import { describeError } from '../../../runtime/logging/describe-error.ts';
import { findCgroupRoot } from './cgroup-root.ts';
import type { CgroupGuard } from './cover-pods.ts';
import { type Coverage, keepCovered } from './coverage.ts';
import { checkNode } from './node-check.ts';
import { createPodResolver, type PodResolver } from './pod-resolver.ts';
import { createPodWatchState, type PodWatchState } from './pod-watch-state.ts';
import { followProtectedPods, type PodUid } from './protected-pods.ts';

export interface PodWatchOptions extends Pick<ComponentDeps, 'log' | 'metrics' | 'health'> {
  /** Name of this node in the cluster. */
  readonly node: string;
  /** Folder where the host's cgroups are mounted. */
  readonly cgroupRoot: string;
  readonly guard: CgroupGuard;
  readonly signal: AbortSignal;
  /** Names the API server; default: this process's environment. */
  readonly env?: ComponentDeps['env'];
  readonly timing?: Partial<ReflectTiming>;
}

export interface PodWatch {
  readonly resolver: PodResolver;
  /** UIDs of the pods on this node whose label protects them, as their cgroups name them. */
  labelled(): readonly string[];
  /** Resolves when nothing is under way; what is covered stays so. */
  close(): Promise<void>;
}

/**
 * Covers the pods of this node that are labelled `svc/protected=true`, by their cgroups. Returns at once; without an
 * API server it says so and stays off.
 */
export function startPodWatch(options: PodWatchOptions): PodWatch {
  const root = findCgroupRoot(options.cgroupRoot);
  const state = createPodWatchState(options.metrics, options.health);
  const ended = new AbortController();
  const signal = AbortSignal.any([options.signal, ended.signal]);
  let reflector: Reflector<PodUid> | undefined;
  const running = connect(options, state).then(async (client) => {
    if (client === undefined || signal.aborted) return client?.close();
    const following = follow({ ...options, signal }, client, root, state);
    reflector = following.reflector;
    await reflector.closed;
    following.coverage?.close();
    client.close();
  });
  return {
    resolver: createPodResolver(root),
    labelled: () => [...(reflector?.values() ?? [])],
    async close() {
      ended.abort();
      await running;
    },
  };
}

/** Undefined where there is no API server to follow, which has been said then. */
async function connect(
  { env = process.env, log, node }: PodWatchOptions,
  state: PodWatchState,
): Promise<KubeClient | undefined> {
  try {
    const client = await createKubeClient(env);
    if (client === undefined) log.info('pods.off', { reason: 'no service account and no kubeconfig' });
    else log.info('pods.watch', { node, server: client.server, credentials: client.origin });
    return client;
  } catch (error) {
    log.error('pods.off', describeError(error));
    state.broken(`Pods are not followed: ${messageOf(error)}`);
    return undefined;
  }
}

interface Following {
  readonly reflector: Reflector<PodUid>;
  readonly coverage: Coverage | undefined;
}

function follow(
  { node, guard, log, signal, timing = {} }: PodWatchOptions,
  client: KubeClient,
  root: string | undefined,
  state: PodWatchState,
): Following {
  state.connected(false);
  const wanted = () => ({ uids: new Set(reflector.values()), listed: reflector.synced });
  const coverage =
    root === undefined ? undefined : keepCovered({ root, guard, log, wanted, onRound: state.round });
  if (root === undefined)
    state.broken('There is no cgroup v2: pods are covered only as far as they register.');
  const refresh = () => coverage?.refresh();
  const reflector = followProtectedPods(client, node, {
    ...{ signal, log, timing, onAdd: refresh, onChange: refresh, onDelete: refresh },
    onConnected: state.connected,
    onListed() {
      refresh();
      checkNode(client, node, signal, log, state);
    },
  });
  guard.onStatus(refresh);
  return { reflector, coverage };
}
