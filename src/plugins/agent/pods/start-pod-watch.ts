import { volumeNames } from '../../../cluster/injection/protected-pods.ts';
import { hasCode, type KubeClient, type KubeObject } from '../../../cluster/kube/client.ts';
import { createKubeClient } from '../../../cluster/kube/create-client.ts';
import { protectedLabel } from '../../../cluster/kube/labels.ts';
import { acceptMetadata } from '../../../cluster/kube/list.ts';
import type { PodSpec } from '../../../cluster/kube/pod.ts';
import {
  type ReflectOptions,
  type Reflector,
  type ReflectTiming,
  reflect,
} from '../../../cluster/kube/reflect.ts';
import type { ComponentDeps } from '../../../runtime/component/contract.ts';
import { messageOf } from '../../../runtime/errors.ts';
import { describeError, type Logger } from '../../../runtime/logging/logger.ts';
import type { CgroupGuard } from './cover-pods.ts';
import { type Coverage, type CoverageOptions, keepCovered } from './coverage.ts';
import { createPodResolver, findCgroupRoot, type PodResolver } from './pod-cgroups.ts';
import { createPodWatchState, crowdedReason, type PodWatchState } from './pod-watch-state.ts';

export interface PodWatchOptions extends Pick<ComponentDeps, 'log' | 'metrics' | 'health'> {
  /** Name of this node in the cluster. */
  readonly node: string;
  /** Mount point of the host's cgroups. */
  readonly cgroupRoot: string;
  readonly guard: CgroupGuard;
  readonly signal: AbortSignal;
  /** Gives the API server's address; default: this process's environment. */
  readonly env?: ComponentDeps['env'];
  readonly timing?: Partial<ReflectTiming>;
  /** See CoverageOptions. */
  readonly startingMs?: number;
  /** Called when the set of covered or uncovered pods has changed. */
  readonly onChange?: () => void;
  /** See CoverageOptions. */
  readonly onCovered?: CoverageOptions['onCovered'];
}

export interface PodWatch {
  readonly resolver: PodResolver;
  /** @param cgroup id of a labelled pod's cgroup or one below it @returns undefined for any other cgroup */
  nameOf(cgroup: bigint): ContainerName | undefined;
  /** Why some processes of a pod would lose coverage when moved elsewhere, as a sentence, by the pod's UID. */
  crowded(): ReadonlyMap<string, string>;
  /**
   * Whether a container may be one to which the operator gives the token. `kubectl debug` can add an ephemeral
   * container that mounts any volume of its pod; in a pod with such a container, the kubelet must have reported the
   * others as not ephemeral.
   * @param container the runtime's id
   */
  mayHoldToken(podUid: string, container: string | undefined): boolean;
  /** The pods on this node whose label asks for protection. */
  labelled(): readonly LabelledPod[];
  /** Resolves when no work is in progress; covered pods stay covered. */
  close(): Promise<void>;
}

/** Names for people. */
export interface ContainerName {
  /** `namespace/name` */
  readonly pod: string;
  /** Undefined if the kubelet has not reported the container to the API server yet. */
  readonly container: string | undefined;
}

export interface LabelledPod {
  /** As in the name of the pod's cgroup. */
  readonly uid: string;
  /** Why the kernel's table does not hold the pod's cgroup, as a sentence; undefined if it does. */
  readonly uncovered: string | undefined;
}

/**
 * Covers the pods of this node that are labelled `svc/protected=true`, by their cgroups. Returns at once; without an
 * API server it reports so and stays off.
 */
export function startPodWatch(options: PodWatchOptions): PodWatch {
  const root = findCgroupRoot(options.cgroupRoot);
  const state = createPodWatchState(options);
  const resolver = createPodResolver(root);
  options.guard.onCrowded((cgroups) => {
    state.crowded(cgroups.map((id) => ({ id, uid: resolver.podOfCgroup(id) })));
    options.onChange?.();
  });
  const ended = new AbortController();
  const signal = AbortSignal.any([options.signal, ended.signal]);
  let followed: Following | undefined;
  const running = connect(options, state).then(async (client) => {
    if (client === undefined || signal.aborted) return client?.close();
    followed = follow({ ...options, signal }, client, state);
    await followed.reflector.closed;
    followed.coverage.close();
    client.close();
  });
  return {
    resolver,
    nameOf: (cgroup) => (followed === undefined ? undefined : nameIn(followed, resolver, cgroup)),
    crowded: () => crowdedPods(options.guard.crowded(), resolver),
    mayHoldToken: (uid, container) => followed === undefined || mayHoldToken(followed, uid, container),
    labelled: () => (followed === undefined ? [] : labelledPods(followed)),
    async close() {
      ended.abort();
      await running;
    },
  };
}

/** Undefined, after reporting so, if there is no API server to follow. */
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
    state.broken(`Pods are not watched: ${messageOf(error)}`);
    return undefined;
  }
}

function crowdedPods(cgroups: readonly bigint[], { podOfCgroup }: PodResolver): ReadonlyMap<string, string> {
  const uids = cgroups.map(podOfCgroup).filter((uid) => uid !== undefined);
  return new Map(uids.map((uid) => [uid, crowdedReason]));
}

interface Following {
  readonly reflector: Reflector<WantedPod>;
  readonly coverage: Coverage;
}

function nameIn({ reflector }: Following, resolver: PodResolver, cgroup: bigint): ContainerName | undefined {
  const uid = resolver.podOfCgroup(cgroup);
  const pod = [...reflector.values()].find((one) => one.uid === uid);
  const id = resolver.containerOfCgroup(cgroup);
  return pod && { pod: pod.name, container: id === undefined ? undefined : pod.containers.get(id) };
}

function mayHoldToken({ reflector }: Following, uid: string, container: string | undefined): boolean {
  const pod = [...reflector.values()].find((one) => one.uid === uid);
  return !pod?.mountsTokenLater || (container !== undefined && pod.lasting.has(container));
}

function labelledPods({ reflector, coverage }: Following): readonly LabelledPod[] {
  const uids = [...reflector.values()].map(({ uid }) => uid);
  const uncovered = coverage.uncovered(uids);
  return uids.map((uid) => ({ uid, uncovered: uncovered.get(uid) }));
}

function follow(options: PodWatchOptions, client: KubeClient, state: PodWatchState): Following {
  const { node, guard, log, signal, timing = {}, startingMs, onCovered, onChange = () => {} } = options;
  state.connected(false);
  const wanted = () => {
    const uids = new Set([...reflector.values()].map(({ uid }) => uid));
    return { uids, listed: reflector.synced };
  };
  const hasChanged = createComparison();
  const coverage = keepCovered({
    ...{ folder: options.cgroupRoot, guard, log, wanted },
    ...(startingMs !== undefined && { startingMs }),
    ...(onCovered !== undefined && { onCovered }),
    onPass(pass) {
      const names = new Map([...reflector.values()].map(({ uid, name }) => [uid, name]));
      state.pass(pass, (uid) => names.get(uid) ?? uid);
      if (hasChanged(labelledPods(following))) onChange();
    },
  });
  const refresh = () => coverage.refresh();
  const reflector = followProtectedPods(client, node, {
    ...{ signal, log, timing, onAdd: refresh, onChange: refresh, onDelete: refresh },
    onConnected: state.connected,
    onListed() {
      refresh();
      checkNode(client, node, signal, log, state);
    },
  });
  guard.onStatus(refresh);
  const following = { reflector, coverage };
  return following;
}

/** Tells whether the covered or uncovered pods differ from the last call. */
function createComparison(): (pods: readonly LabelledPod[]) => boolean {
  let before = '[]';
  return (pods) => {
    const now = JSON.stringify(pods);
    const isOther = now !== before;
    before = now;
    return isOther;
  };
}

/** Listing the pods of a non-existent node is no error but an empty list, so a wrong name would never be noticed. */
async function checkNode(
  client: KubeClient,
  node: string,
  signal: AbortSignal,
  log: Logger,
  state: PodWatchState,
): Promise<void> {
  try {
    const path = `/api/v1/nodes/${encodeURIComponent(node)}`;
    await client.request({ path, accept: acceptMetadata, signal });
    state.nodeKnown(true);
  } catch (error) {
    if (signal.aborted) return;
    if (!hasCode(error, 'KUBE_NOT_FOUND')) {
      return log.warn('pods.node.unchecked', { node, ...describeError(error) });
    }
    log.error('pods.node.unknown', { node, nextStep: 'Set NODE_NAME to spec.nodeName of this pod.' });
    state.nodeKnown(false);
  }
}

/** The part of a pod that is kept. */
interface WantedPod {
  /** As in the name of the pod's cgroup. */
  readonly uid: string;
  /** `namespace/name` */
  readonly name: string;
  /** Names of its containers by the runtime's ids, as reported by the kubelet. */
  readonly containers: ReadonlyMap<string, string>;
  /** The runtime's ids of containers that are not ephemeral. */
  readonly lasting: ReadonlySet<string>;
  /** Whether an ephemeral container mounts, or will mount, the token of wrappers. */
  readonly mountsTokenLater: boolean;
}

interface PodObject extends KubeObject {
  readonly spec?: Pick<PodSpec, 'ephemeralContainers'>;
  readonly status?: Readonly<Partial<Record<StatusList, readonly ContainerStatus[]>>>;
}

interface ContainerStatus {
  readonly name: string;
  /** `<runtime>://<id>`; missing, or empty, before it has started. */
  readonly containerID?: string;
}

type StatusList = 'initContainerStatuses' | 'containerStatuses' | 'ephemeralContainerStatuses';

type Rest = Omit<ReflectOptions<PodObject, WantedPod>, 'path' | 'project' | 'client'>;

/** The kubelet names a static pod's cgroup by the hash of its manifest, and puts the hash on the mirror pod. */
const mirrorHash = 'kubernetes.io/config.mirror';

/** A pod that has ended has no cgroup any more; only its deletion is outstanding. */
const notEnded = 'status.phase!=Succeeded,status.phase!=Failed';

/** Follows the pods of a node that are labelled as protected. */
function followProtectedPods(client: KubeClient, node: string, rest: Rest): Reflector<WantedPod> {
  return reflect<PodObject, WantedPod>({
    ...{ client, path: '/api/v1/pods' },
    ...{ fieldSelector: `spec.nodeName=${node},${notEnded}`, labelSelector: `${protectedLabel}=true` },
    project: wantedPodOf,
    projectOutline: wantedPodOfOutline,
    ...rest,
  });
}

/** A large pod is covered like any other; it may have ephemeral containers that mount the token. */
const wantedPodOfOutline = (outline: PodObject): WantedPod => ({
  ...wantedPodOf(outline),
  mountsTokenLater: true,
});

function wantedPodOf({ metadata, spec, status }: PodObject): WantedPod {
  const { uid, name, namespace = '', annotations } = metadata;
  const idsIn = (list: StatusList) =>
    (status?.[list] ?? []).map(
      ({ name, containerID = '' }) => [containerID.split('://')[1] ?? '', name] as const,
    );
  const lasting = [...idsIn('initContainerStatuses'), ...idsIn('containerStatuses')];
  return {
    ...{ uid: annotations?.[mirrorHash] ?? uid, name: `${namespace}/${name}` },
    containers: new Map([...lasting, ...idsIn('ephemeralContainerStatuses')]),
    lasting: new Set(lasting.map(([id]) => id)),
    mountsTokenLater: (spec?.ephemeralContainers ?? []).some(({ volumeMounts = [] }) =>
      volumeMounts.some((mount) => mount.name === volumeNames.token),
    ),
  };
}
