import type { LabelSelector } from '../kubernetes/label-selector.ts';

/**
 * A network policy as the API server has it, whoever made it, as far as it concerns egress.
 * Source: https://kubernetes.io/docs/reference/kubernetes-api/policy-resources/network-policy-v1/
 */
export interface ObservedPolicy {
  readonly name: string;
  readonly spec: ObservedSpec;
}

export interface ObservedSpec {
  readonly podSelector?: LabelSelector;
  readonly policyTypes?: readonly string[];
  readonly egress?: readonly ObservedRule[];
}

/** A member that is missing or empty allows everything. */
export interface ObservedRule {
  readonly to?: readonly ObservedPeer[];
  readonly ports?: readonly ObservedPort[];
}

export interface ObservedPeer {
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
  readonly namespaceSelector?: LabelSelector;
  /** Without a selector of namespaces: pods of the policy's own namespace. */
  readonly podSelector?: LabelSelector;
}

export interface ObservedPort {
  /** Default: TCP. */
  readonly protocol?: string;
  /** Missing: every port. */
  readonly port?: number | string;
  /** The last port of a range that begins with `port`. */
  readonly endPort?: number;
}

/** Whether it has a say in egress; without policy types it has when it has rules for it. */
export function concernsEgress({ policyTypes, egress = [] }: ObservedSpec): boolean {
  return policyTypes?.includes('Egress') ?? egress.length > 0;
}
