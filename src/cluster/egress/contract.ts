import { managedBy } from '../kube/labels.ts';
import type { EgressDestination } from '../resources/resources.ts';

/** Everything that a namespace's policies are made from; no further lookups are needed. */
export interface EgressFacts {
  readonly namespace: string;
  /** All secrets servers that the namespace's pods use; duplicates allowed. */
  readonly vaults: readonly EgressEndpoint[];
  /** Object stores of pods with the proxy; none: no store policy. */
  readonly stores: readonly EgressEndpoint[];
  /** Blocks that contain the addresses of stores outside the cluster; they apply to these stores' ports. */
  readonly storeBlocks?: readonly string[];
  readonly apiServer: readonly AddressAndPort[];
  readonly dns: DnsFacts;
  /** A host is either a Service of the cluster or has addresses. */
  readonly extra: readonly (EgressDestination & {
    readonly service?: ServiceFacts;
    readonly addresses?: readonly string[];
    readonly isPending?: boolean;
  })[];
  /** Destinations that pods need besides these but that are not allowed, a sentence each; passed on. */
  readonly warnings?: readonly string[];
}

/** Destinations of all ServiceConfigs of a namespace that its policies are made from. */
export const maxExtra = 1_024;

/** Target of a URL. */
export type EgressEndpoint =
  | { readonly kind: 'service'; readonly host: string; readonly service: ServiceFacts; readonly port: number }
  /** A name outside the cluster or an address, with all its addresses; none if it could not be resolved. */
  | {
      readonly kind: 'external';
      readonly host: string;
      readonly addresses: readonly string[];
      readonly port: number;
      /** Its name servers have yet to answer, so these are the addresses known from before. */
      readonly isPending?: boolean;
    };

export interface ServiceFacts {
  readonly namespace: string;
  readonly name: string;
  readonly clusterIPs: readonly string[];
  readonly selector: Readonly<Record<string, string>>;
  /** Port that the pods listen on behind the Service's requested port; resolved to a number where possible. */
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
  /** Undefined: unknown; without `addresses` as well, the usual selectors in kube-system are used. */
  readonly service: ServiceFacts | undefined;
  /** Addresses of NodeLocal DNSCache, and of servers named by hand. */
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
  /** Warnings about unknown or volatile facts, a sentence each; they never widen a policy. */
  readonly warnings: readonly string[];
}

/** The label with its name that every namespace has. */
export const namespaceName = 'kubernetes.io/metadata.name';

/**
 * Labels of policies generated here, whoever applies them. The operator also maintains policies that a person applied:
 * otherwise they would block its own, and nobody would update changing addresses.
 */
export const policyLabels = {
  'app.kubernetes.io/component': 'egress',
  ...managedBy,
  'app.kubernetes.io/name': 'svc',
} as const;

/** Annotation of a policy: the names that its single-address blocks stand for, see `formatHosts`. */
export const hostsAnnotation = 'svc/egress-hosts';

/** At most 80 characters, since a namespace has at most 63; policy names may have 253. */
export function policyNames(namespace: string): { readonly main: string; readonly store: string } {
  const main = `svc-egress-${namespace}`;
  return { main, store: `${main}-store` };
}
