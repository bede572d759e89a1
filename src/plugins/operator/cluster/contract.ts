import type {
  KnownNamespace,
  KnownPod,
  KnownSecretMapping,
  KnownServiceConfig,
  KnownWorkload,
} from '../../../core/cluster/known.ts';
import type { OwnerOf } from '../../../core/cluster/owner.ts';
import type { Reflector } from '../../../runtime/kube/reflect-options.ts';

export type { KnownNamespace, KnownPod, KnownSecretMapping, KnownServiceConfig, KnownWorkload };

/**
 * What the operator keeps of the cluster, following the API server. All replicas keep it: the webhook answers from it.
 * Only what is read is kept of an object.
 */
export interface ClusterView {
  readonly pods: Followed<KnownPod>;
  readonly namespaces: Followed<KnownNamespace>;
  readonly serviceConfigs: Followed<KnownServiceConfig>;
  readonly secretMappings: Followed<KnownSecretMapping>;
  /** Controllers of pods: Deployments, StatefulSets, DaemonSets, ReplicaSets, Jobs and CronJobs, by `kind/namespace/name`. */
  readonly workloads: Workloads;
  /** Resolves when all are listed once, or the signal is aborted. */
  whenSynced(): Promise<void>;
}

/** A reflector that tells those who want to know. */
export interface Followed<T> extends Pick<Reflector<T>, 'get' | 'values' | 'size' | 'synced'> {
  /** Called with each value that is new, changed or gone; it must not throw. */
  onChange(handle: (value: T, before: T | undefined, gone: boolean) => void): void;
}

export interface Workloads extends Followed<KnownWorkload> {
  /** The outermost controller of a pod, by its owner references; the pod itself where it has none. */
  readonly ownerOf: OwnerOf;
}
