import type { EgressDestination } from '../custom-resources/resources.ts';
import { managedBy } from '../kubernetes/labels.ts';

/** Everything that the policies of one namespace are made from; no further lookups are needed. */
export interface EgressFacts {
  readonly namespace: string;
  /** One each, duplicates allowed: all secrets servers that its pods use. */
  readonly vaults: readonly EgressEndpoint[];
  /** Object stores of the pods that have the proxy; none: no store policy. */
  readonly stores: readonly EgressEndpoint[];
  /** Blocks that the addresses of stores outside of the cluster are in, on the ports of these. */
  readonly storeBlocks?: readonly string[];
  readonly apiServer: readonly AddressAndPort[];
  readonly dns: DnsFacts;
  /** A host is either a Service of the cluster or has addresses. */
  readonly extra: readonly (EgressDestination & {
    readonly service?: ServiceFacts;
    readonly addresses?: readonly string[];
  })[];
  /** What pods need besides that and is not allowed, a sentence each; passed on. */
  readonly warnings?: readonly string[];
}

/** Where a URL leads. */
export type EgressEndpoint =
  | { readonly kind: 'service'; readonly host: string; readonly service: ServiceFacts; readonly port: number }
  /** A name outside of the cluster, or an address; all its addresses, none when it could not be resolved. */
  | {
      readonly kind: 'external';
      readonly host: string;
      readonly addresses: readonly string[];
      readonly port: number;
    };

export interface ServiceFacts {
  readonly namespace: string;
  readonly name: string;
  readonly clusterIPs: readonly string[];
  readonly selector: Readonly<Record<string, string>>;
  /** Of the Service's port that is asked for: what its pods listen on; names are resolved where they can be. */
  readonly targetPort: number | string;
  readonly port: number;
  /** Addresses and ports of its EndpointSlices, for a Service without a selector. */
  readonly endpoints: readonly AddressAndPort[];
}

export interface AddressAndPort {
  /** IPv4 or IPv6. */
  readonly address: string;
  readonly port: number;
}

export interface DnsFacts {
  /** Undefined: unknown; without `addresses`, too, the usual selectors of kube-system are taken. */
  readonly service: ServiceFacts | undefined;
  /** Of NodeLocal DNSCache and of servers named by hand. */
  readonly addresses: readonly string[];
}

/** Source: https://kubernetes.io/docs/reference/kubernetes-api/policy-resources/network-policy-v1/ */
export interface NetworkPolicy {
  readonly apiVersion: 'networking.k8s.io/v1';
  readonly kind: 'NetworkPolicy';
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: {
    readonly podSelector: { readonly matchLabels: Readonly<Record<string, string>> };
    readonly policyTypes: readonly ['Egress'];
    readonly egress: readonly EgressRule[];
  };
}

export interface EgressRule {
  readonly to: readonly Peer[];
  readonly ports: readonly { readonly protocol: 'TCP' | 'UDP'; readonly port: number | string }[];
}

export type Peer =
  | { readonly ipBlock: { readonly cidr: string } }
  | {
      readonly namespaceSelector: { readonly matchLabels: Readonly<Record<string, string>> };
      readonly podSelector: { readonly matchLabels: Readonly<Record<string, string>> };
    };

export interface EgressPolicies<Policy = NetworkPolicy> {
  readonly policies: readonly Policy[];
  /** Warnings about facts that are unknown or may change, a sentence each; these never widen a policy. */
  readonly warnings: readonly string[];
}

/** The label that every namespace has, its name. */
export const namespaceName = 'kubernetes.io/metadata.name';

/**
 * Carried by policies that come from here, whoever applies them. The operator also maintains policies that a person
 * applies: otherwise they would block its own, and nobody would update changing addresses.
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
