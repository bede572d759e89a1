import { isDeepStrictEqual } from 'node:util';
import { carriesWrapper, isOver, isProtected } from '../../cluster/injection/protected-pods.ts';
import type { KubeObject } from '../../cluster/kube/client.ts';
import type {
  KnownNamespace,
  KnownPod,
  KnownSecretMapping,
  KnownServiceConfig,
  KnownWorkload,
  OwnerOf,
} from '../../cluster/kube/known-objects.ts';
import { type ReflectOptions, type Reflector, reflect } from '../../cluster/kube/reflect.ts';
import type { KeepingOf } from './cluster-room.ts';

export type { KnownNamespace, KnownPod, KnownSecretMapping, KnownServiceConfig, KnownWorkload };

/**
 * The operator's copy of the cluster, which follows the API server. Every replica keeps one, because the webhook
 * answers from it. Of each object only the fields in use are kept.
 */
export interface ClusterView {
  readonly pods: FollowedKind<KnownPod>;
  readonly namespaces: FollowedKind<KnownNamespace>;
  readonly serviceConfigs: FollowedKind<KnownServiceConfig>;
  readonly secretMappings: FollowedKind<KnownSecretMapping>;
  /**
   * Controllers of pods: Deployments, StatefulSets, DaemonSets, ReplicaSets, Jobs and CronJobs, by
   * `kind/namespace/name`.
   */
  readonly workloads: Workloads;
  /** For further kinds, which share the room of these. */
  readonly keepingOf: KeepingOf;
  /** Resolves when all are listed once, or the signal is aborted. */
  whenSynced(): Promise<void>;
  /** Whether `whenSynced` has resolved. */
  readonly synced: boolean;
}

/** A reflector with change handlers. */
export interface FollowedKind<T> extends Pick<Reflector<T>, 'get' | 'values' | 'size' | 'synced'> {
  /** Called with each value that was added, changed or removed; must not throw. */
  onChange(handle: (value: T, before: T | undefined, gone: boolean) => void): void;
}

export interface Workloads extends FollowedKind<KnownWorkload> {
  /** The outermost controller of a pod, by owner references; the pod itself if it has none. */
  readonly ownerOf: OwnerOf;
}

/** Objects by namespace. */
export interface ByNamespace<T> {
  in(namespace: string): Iterable<T>;
  /** How many there are, without building a list. */
  count(namespace: string): number;
}

interface Namespaced {
  readonly namespace: string;
  readonly key: string;
}

/** Follows the given objects, beginning with those that exist. */
export function byNamespace<T extends Namespaced>(followed: FollowedKind<T>): ByNamespace<T> {
  const all = new Map<string, Map<string, T>>();
  const put = (value: T) => {
    const within = all.get(value.namespace) ?? new Map<string, T>();
    all.set(value.namespace, within.set(value.key, value));
  };
  const drop = ({ namespace, key }: T) => {
    const within = all.get(namespace);
    within?.delete(key);
    if (within?.size === 0) all.delete(namespace);
  };
  for (const value of followed.values()) put(value);
  followed.onChange((value, _before, gone) => (gone ? drop(value) : put(value)));
  return {
    in: (namespace) => all.get(namespace)?.values() ?? [],
    count: (namespace) => all.get(namespace)?.size ?? 0,
  };
}

type Handle<T> = Parameters<FollowedKind<T>['onChange']>[0];

/** A followed kind as its owner sees it. */
export interface Following<T> extends FollowedKind<T>, Pick<Reflector<T>, 'whenSynced' | 'closed'> {}

export function follow<O extends KubeObject, T>(
  options: Omit<ReflectOptions<O, T>, 'onAdd' | 'onChange' | 'onDelete'>,
): Following<T> {
  const handles: Handle<T>[] = [];
  const tell: Handle<T> = (value, before, gone) => {
    for (const handle of handles) handle(value, before, gone);
  };
  const reflector = reflect<O, T>({
    ...options,
    onAdd: (value) => tell(value, undefined, false),
    onChange: (value, before) => tell(value, before, false),
    onDelete: (value) => tell(value, value, true),
  });
  return Object.assign(reflector, { onChange: (handle: Handle<T>) => void handles.push(handle) });
}

/**
 * Whether a change of a pod can change the number of pods that a selector matches; most changes concern only its
 * status.
 */
export function countsDiffer(pod: KnownPod, before: KnownPod | undefined, gone: boolean): boolean {
  if (gone || before === undefined) return true;
  return (
    isOver(pod.pod) !== isOver(before.pod) ||
    carriesWrapper(pod.pod) !== carriesWrapper(before.pod) ||
    !isDeepStrictEqual(pod.pod.metadata.labels, before.pod.metadata.labels)
  );
}

/** Whether more has changed than the status, which the operator itself writes. */
export function specDiffers(
  { uid, generation }: { readonly uid: string; readonly generation: number },
  before: { readonly uid: string; readonly generation: number } | undefined,
  gone: boolean,
): boolean {
  return gone || before?.uid !== uid || before.generation !== generation;
}

/** Whether the change adds a protected pod to the namespace or removes one. */
export function protectionDiffers({ pod }: KnownPod, before: KnownPod | undefined, gone: boolean): boolean {
  const was = before !== undefined && isProtected(before.pod);
  return was !== (!gone && isProtected(pod));
}

/** Names in the annotation `svc/secret-mapping`. */
export function mappingNames({ pod }: KnownPod): readonly string[] {
  const text = pod.metadata.annotations?.['svc/secret-mapping'] ?? '';
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** Of each kind of configuration in one namespace: a review and a status consider all of them. */
export const maxConfigs = 1_000;

export const tooManyConfigs = (namespace: string, plural: string): string =>
  `Namespace ${namespace} has more than ${maxConfigs} ${plural}`;

/** Objects in the local copy, by namespace. */
export interface ConfigIndexes {
  readonly serviceConfigs: ByNamespace<KnownServiceConfig>;
  readonly secretMappings: ByNamespace<KnownSecretMapping>;
}
