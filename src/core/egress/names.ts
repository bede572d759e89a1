import { managedBy } from '../kubernetes/ownership.ts';

/** The label that every namespace has, its name. */
export const namespaceName = 'kubernetes.io/metadata.name';

/**
 * Carried by policies that come from here, whoever applies them. What a person applies is the operator's to keep, too:
 * otherwise it would stand in the way of the operator's own, and nobody would follow addresses that change.
 */
export const policyLabels = {
  'app.kubernetes.io/component': 'egress',
  ...managedBy,
  'app.kubernetes.io/name': 'svc',
} as const;

/** On a policy: which names its blocks of single addresses stand for, see `formatHosts`. */
export const hostsAnnotation = 'svc/egress-hosts';

/** At most 80 characters, well below the 253 that a policy may have: a namespace has at most 63. */
export function policyNames(namespace: string): { readonly main: string; readonly store: string } {
  const main = `svc-egress-${namespace}`;
  return { main, store: `${main}-store` };
}
