import type { NetworkPolicy } from '../../core/egress/contract.ts';
import { wideningPolicies } from '../../core/egress/widening.ts';
import { protectedLabel } from '../../core/kubernetes/labels.ts';
import type { NamespaceContent } from './namespace-content.ts';

/** A policy of somebody else that matters beside ours. */
export interface Finding {
  readonly namespace: string;
  readonly policy: string;
  /** It lets protected pods reach more, or has the name of one of ours. */
  readonly kind: 'widens' | 'replaced';
  readonly message: string;
}

/** @param ours as `egressPolicies` makes them */
export function findingsOf(
  namespace: string,
  { pods, policies }: NamespaceContent,
  ours: readonly NetworkPolicy[],
): Finding[] {
  const names = new Set(ours.map(({ metadata }) => metadata.name));
  const others = policies.filter((each) => !(each.ours && names.has(each.name)));
  const labels =
    pods.length > 0 ? pods.map(({ metadata }) => metadata.labels ?? {}) : [{ [protectedLabel]: 'true' }];
  const replaced = others.filter(({ name }) => names.has(name)).map(({ name }) => name);
  const distinct = others.filter(({ name }) => !names.has(name));
  return [
    ...wideningPolicies({ ours, others: distinct, pods: labels }).map((policy) => ({
      ...{ namespace, policy, kind: 'widens' as const },
      message: `NetworkPolicy ${namespace}/${policy} lets protected pods reach more than these policies do: narrow its podSelector or its rules`,
    })),
    ...replaced.sort().map((policy) => ({
      ...{ namespace, policy, kind: 'replaced' as const },
      message: `NetworkPolicy ${namespace}/${policy} is neither the operator's nor from here: applying these policies replaces it`,
    })),
  ];
}
