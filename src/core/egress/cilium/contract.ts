type Labels = Readonly<Record<string, string>>;

/** Source: https://docs.cilium.io/en/stable/security/policy/language/ */
export interface CiliumPolicy {
  readonly apiVersion: 'cilium.io/v2';
  readonly kind: 'CiliumNetworkPolicy';
  readonly metadata: { readonly name: string; readonly namespace: string; readonly labels: Labels };
  readonly spec: {
    readonly endpointSelector: { readonly matchLabels: Labels };
    readonly egress: readonly CiliumRule[];
  };
}

/** Exactly one kind of peer, since Cilium lets a rule combine few of them; none at all: it allows nothing. */
export interface CiliumRule extends CiliumPeers {
  readonly toPorts?: readonly [CiliumPorts];
}

export interface CiliumPeers {
  readonly toEndpoints?: readonly { readonly matchLabels: Labels }[];
  readonly toEntities?: readonly 'kube-apiserver'[];
  readonly toCIDR?: readonly string[];
  readonly toFQDNs?: readonly { readonly matchName: string }[];
}

export interface CiliumPorts {
  readonly ports: readonly { readonly port: string; readonly protocol: 'TCP' | 'UDP' }[];
  /** Answers pass through Cilium, which learns from them where names point. */
  readonly rules?: { readonly dns: readonly { readonly matchPattern: string }[] };
}

export interface CiliumPolicies {
  readonly policies: readonly CiliumPolicy[];
  /** What could not be found out, a sentence each; never a reason for a wider policy. */
  readonly warnings: readonly string[];
}
