import type { KnownPod } from '../../../core/cluster/known.ts';
import type { EgressRule, NetworkPolicy } from '../../../core/egress/contract.ts';
import { policyNames } from '../../../core/egress/names.ts';
import { concernsEgress, type ObservedRule } from '../../../core/egress/observed-policy.ts';
import { wideningPolicies } from '../../../core/egress/widening.ts';
import { isLabelled } from '../../../core/kubernetes/labels.ts';
import type { KnownPolicy } from '../../../runtime/cluster/project-policy.ts';

export interface EgressFound {
  readonly egressPolicy: boolean;
  readonly wideningPolicies: readonly string[];
}

/**
 * What the policies of a namespace mean for its protected pods, as far as they can be read from the cluster alone.
 * A policy of ours that somebody made allow everything is none of ours.
 */
export function egressOf(
  namespace: string,
  policies: readonly KnownPolicy[],
  pods: readonly KnownPod[],
): EgressFound {
  const names = policyNames(namespace);
  const ours = policies.filter((one) => Object.values(names).includes(one.name) && isWhole(one));
  const labels = pods
    .filter(({ pod }) => isLabelled(pod.metadata.labels))
    .map(({ pod }) => pod.metadata.labels);
  return {
    egressPolicy: ours.some(({ name }) => name === names.main),
    wideningPolicies: wideningPolicies({
      ours: ours.map(asMade),
      others: policies.filter((one) => !ours.includes(one)),
      pods: [...new Set(labels)].map((one) => one ?? {}),
    }),
  };
}

/** In the form in which policies are made here: every rule says to whom and on which ports. */
function isWhole({ ours, spec }: KnownPolicy): boolean {
  return (
    ours &&
    concernsEgress(spec) &&
    spec.podSelector?.matchExpressions === undefined &&
    (spec.egress ?? []).every(isBounded)
  );
}

function isBounded({ to = [], ports = [] }: ObservedRule): boolean {
  return (
    to.length > 0 &&
    ports.length > 0 &&
    ports.every(({ port }) => port !== undefined) &&
    to.every(
      ({ ipBlock, namespaceSelector, podSelector }) =>
        ipBlock !== undefined || (namespaceSelector?.matchLabels && podSelector?.matchLabels) !== undefined,
    )
  );
}

/** `isWhole` has looked at its form. */
function asMade({ namespace, name, labels, spec }: KnownPolicy): NetworkPolicy {
  return {
    ...{ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata: { name, namespace, labels } },
    spec: {
      podSelector: { matchLabels: spec.podSelector?.matchLabels ?? {} },
      policyTypes: ['Egress'],
      egress: (spec.egress ?? []) as readonly EgressRule[],
    },
  };
}
