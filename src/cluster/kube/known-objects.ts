import type {
  SecretMappingSpec,
  SecretMappingStatus,
  ServiceConfigSpec,
  ServiceConfigStatus,
} from '../resources/resources.ts';
import type { OwnerReference, Pod } from './pod.ts';

/** A spec that was too large to be kept; pods that need it are refused. */
export interface TooLarge {
  readonly tooLarge?: true;
}

export const tooLargeError = (what: string): string =>
  `${what}: is too large for the operator to keep beside the namespace's other objects; make it smaller, or delete what is not in use`;

export interface KnownNamespace {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly terminating: boolean;
}

/**
 * A pod with the members that policies, scores and statuses read, such as mounts, volumes and references to Secrets.
 * Values of environment variables are left out, except those of `scoredVariables` in core/score/wrapper-reports.ts and,
 * for containers of the wrapper and the proxy, SVC_ENV_MAP_ONLY and those of `addressVariables` in
 * cluster/egress/wanted.ts.
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
  /** If two select a pod, the older one wins. */
  readonly created: string;
  readonly spec: ServiceConfigSpec & TooLarge;
  readonly status: ServiceConfigStatus;
}

export interface KnownSecretMapping {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly spec: SecretMappingSpec & TooLarge;
  readonly status: SecretMappingStatus;
}

export interface KnownWorkload {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly owner: { readonly kind: string; readonly name: string } | undefined;
  /** Template of its pods; absent for ReplicaSets and Jobs that belong to another controller. */
  readonly template: Pod | undefined;
}

/** The owner of a pod. */
export interface Owner {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

export type OwnerOf = (pod: KnownPod) => Owner;

/** A CronJob owns Jobs, a Deployment ReplicaSets; the rest is for foreign controllers. */
const mostSteps = 4;

/**
 * The outermost controller of a pod, following owner references; the pod itself if it has none. An unknown object (of a
 * foreign kind, or not listed yet) is named by the reference to it.
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

/** The reference to the managing controller; at most one is. */
export function controllerOf(references: readonly OwnerReference[] = []): OwnerReference | undefined {
  return references.find(({ controller }) => controller === true);
}
