import { isDeepStrictEqual } from 'node:util';
import type { NetworkPolicy } from '../../../core/egress/contract.ts';
import { hostsAnnotation } from '../../../core/egress/names.ts';
import { managedBy } from '../../../core/kubernetes/ownership.ts';
import type { KnownPolicy } from '../../../runtime/cluster/project-policy.ts';
import { apply } from '../../../runtime/kube/apply.ts';
import type { KubeClient } from '../../../runtime/kube/client.ts';
import { hasCode } from '../../../runtime/kube/errors.ts';
import { unless } from '../../../runtime/kube/unless.ts';

/** `foreign`: somebody else has a policy of that name which says something else. */
export type Kept = 'unchanged' | 'applied' | 'foreign';

export const collection = '/apis/networking.k8s.io/v1/networkpolicies';

/** Makes or mends it. @throws KubeError */
export async function keepPolicy(
  client: KubeClient,
  wanted: NetworkPolicy,
  known: KnownPolicy | undefined,
  signal: AbortSignal,
): Promise<Kept> {
  if (known !== undefined && !known.ours) {
    return says(known, wanted) ? 'unchanged' : 'foreign';
  }
  if (known !== undefined && isCurrent(known, wanted)) return 'unchanged';
  try {
    await apply(client, {
      path: pathOf(wanted.metadata),
      object: asOurs(wanted, known),
      force: known !== undefined,
      signal,
    });
    return 'applied';
  } catch (error) {
    // another one took the name meanwhile
    if (hasCode(error, 'KUBE_CONFLICT')) return 'foreign';
    throw error;
  }
}

/** Removes one of ours, unless it has changed since it was seen. @throws KubeError */
export async function removePolicy(
  client: KubeClient,
  known: KnownPolicy,
  signal: AbortSignal,
): Promise<void> {
  const { uid, version: resourceVersion } = known;
  const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid, resourceVersion } };
  await unless(client.request({ method: 'DELETE', path: pathOf(known), body, signal }), 'KUBE_NOT_FOUND');
}

function pathOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  const [place, policy] = [namespace, name].map(encodeURIComponent);
  return `/apis/networking.k8s.io/v1/namespaces/${place}/networkpolicies/${policy}`;
}

/** With the UID, so that one that took its place is not mistaken for it. */
function asOurs(wanted: NetworkPolicy, known: KnownPolicy | undefined): object {
  const labels = { ...wanted.metadata.labels, ...managedBy };
  const uid = known === undefined ? {} : { uid: known.uid };
  return { ...wanted, metadata: { ...wanted.metadata, labels, ...uid } };
}

/** The API server leaves an empty list out. */
function says(
  { spec: { egress = [], ...rest } }: KnownPolicy,
  { spec }: Pick<NetworkPolicy, 'spec'>,
): boolean {
  return isDeepStrictEqual({ ...rest, egress }, { ...spec });
}

function isCurrent(known: KnownPolicy, { metadata, spec }: NetworkPolicy): boolean {
  const labels = Object.entries({ ...metadata.labels, ...managedBy });
  return (
    labels.every(([key, value]) => known.labels[key] === value) &&
    known.hosts === metadata.annotations?.[hostsAnnotation] &&
    says(known, { spec })
  );
}
