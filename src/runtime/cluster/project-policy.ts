import { hostsAnnotation } from '../../core/egress/names.ts';
import type { ObservedPolicy, ObservedSpec } from '../../core/egress/observed-policy.ts';
import { hasOtherWriters, isOperators, type OwnedMetadata } from '../../core/kubernetes/ownership.ts';
import { type KubeObject, keyOf } from '../kube/objects.ts';

/** A network policy of the cluster, whoever made it. */
export interface KnownPolicy extends ObservedPolicy {
  readonly key: string;
  readonly namespace: string;
  readonly uid: string;
  readonly version: string;
  /** The operator keeps it: it carries its label, or was applied by it. */
  readonly ours: boolean;
  /** Somebody else has written it, too, as who applies what `svc netpol` prints: it does not go with the last pod. */
  readonly shared: boolean;
  readonly labels: Readonly<Record<string, string>>;
  /** Value of the annotation with the names that it stands for. */
  readonly hosts: string | undefined;
}

export type PolicyObject = KubeObject & {
  readonly spec?: ObservedSpec;
  readonly metadata: OwnedMetadata;
};

export function projectPolicy(object: PolicyObject): KnownPolicy {
  const { name, namespace = '', uid, resourceVersion, labels = {}, annotations = {} } = object.metadata;
  return {
    ...{ key: keyOf(object), namespace, name, uid, version: resourceVersion, labels },
    ours: isOperators(object.metadata),
    shared: hasOtherWriters(object.metadata),
    hosts: annotations[hostsAnnotation],
    spec: object.spec ?? {},
  };
}
