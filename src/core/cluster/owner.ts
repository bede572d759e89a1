import type { OwnerReference } from '../kubernetes/pod.ts';
import type { KnownPod, KnownWorkload } from './known.ts';

/** Whom a pod belongs to. */
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
 * What is not known, of a kind of others or not listed yet, is named by the reference to it.
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
  // one of the same name that was made anew is not the pod's
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
