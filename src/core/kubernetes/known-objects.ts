import type {
  SecretMappingSpec,
  SecretMappingStatus,
  ServiceConfigSpec,
  ServiceConfigStatus,
} from '../custom-resources/resources.ts';
import type { OwnerReference, Pod } from './pod.ts';

export interface KnownNamespace {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly terminating: boolean;
}

/**
 * With the members that policies, scores and statuses read: mounts, volumes and references to Secrets among them.
 * Environment values are left out, but for those of `scoredVariables` in core/score/wrapper-reports.ts and, of the wrapper's
 * and the proxy's containers, of `addressVariables` in core/egress/wanted.ts.
 */
export interface KnownPod {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly pod: Pod;
}

export interface KnownServiceConfig {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  /** The older one wins where two select a pod. */
  readonly created: string;
  readonly spec: ServiceConfigSpec;
  readonly status: ServiceConfigStatus;
}

export interface KnownSecretMapping {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly spec: SecretMappingSpec;
  readonly status: SecretMappingStatus;
}

export interface KnownWorkload {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly owner: { readonly kind: string; readonly name: string } | undefined;
  /** Of its pods; absent for ReplicaSets and Jobs that belong to another one. */
  readonly template: Pod | undefined;
}

/** The owner of a pod. */
export interface Owner {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

export type OwnerOf = (pod: KnownPod) => Owner;

/** A CronJob has Jobs, a Deployment has ReplicaSets; more is left for those of others. */
const mostSteps = 4;

/**
 * The outermost controller of a pod, by its owner references; the pod itself where it has none.
 * An unknown object (a foreign kind, or not listed yet) is named by the reference to it.
 * @param get by `kind/namespace/name`
 */
export function ownerOf(
  { namespace, name, pod }: KnownPod,
  get: (key: string) => KnownWorkload | undefined,
): Owner {
  const reference = controllerOf(pod.metadata.ownerReferences);
  if (reference === undefined) return { kind: 'Pod', namespace, name };
  let owner: Owner = { kind: reference.kind, namespace, name: reference.name };
  let known = get(keyFor(owner));
  // a recreated object of the same name is not the pod's owner
  if (known?.uid !== reference.uid) return owner;
  for (let step = 0; step < mostSteps && known?.owner !== undefined; step++) {
    owner = { ...known.owner, namespace };
    known = get(keyFor(owner));
  }
  return { kind: owner.kind, namespace, name: owner.name };
}

export function keyFor({ kind, namespace, name }: Owner): string {
  return `${kind}/${namespace}/${name}`;
}

/** The one that manages the object; at most one does. */
export function controllerOf(references: readonly OwnerReference[] = []): OwnerReference | undefined {
  return references.find(({ controller }) => controller === true);
}
