import { protectedLabel, proxyLabel } from '../kube/labels.ts';
import { isReachable } from './address.ts';
import {
  type EgressEndpoint,
  type EgressFacts,
  type EgressPolicies,
  hostsAnnotation,
  type NetworkPolicy,
  policyLabels,
  policyNames,
} from './contract.ts';
import {
  dnsGrants,
  type EndpointGrants,
  endpointGrants,
  extraGrants,
  narrowExtras,
  storeBlockGrants,
} from './destination-grants.ts';
import { addressGrant, byText, type EgressGrant, onValidPorts, rulesOf, usable } from './grants.ts';
import { formatHosts } from './hosts.ts';

type Warn = (text: string) => void;

/**
 * The policies of a namespace: what its protected pods may reach, and what those with the proxy may reach in addition.
 * Equal facts in any order give equal policies. Unknown facts never widen a policy.
 */
export function egressPolicies(facts: EgressFacts): EgressPolicies {
  return policiesOf(facts, { main: gather, store: gatherStores, policyOf });
}

export interface PolicyMaker<Content, Policy> {
  /** What protected pods may reach. */
  readonly main: (facts: EgressFacts, warn: Warn) => Content;
  /** What pods with the proxy may reach in addition. */
  readonly store: (facts: EgressFacts, warn: Warn) => Content;
  readonly policyOf: (head: PolicyHead, content: Content, warn: Warn) => Policy;
}

export interface PolicyHead {
  readonly metadata: Pick<NetworkPolicy['metadata'], 'name' | 'namespace' | 'labels'>;
  /** Labels of the pods that the policy selects. */
  readonly matchLabels: Readonly<Record<string, string>>;
}

/** The policies of a namespace, of either kind. */
export function policiesOf<Content, Policy>(
  facts: EgressFacts,
  { main, store, policyOf }: PolicyMaker<Content, Policy>,
): EgressPolicies<Policy> {
  const warnings = new Set<string>(facts.warnings);
  const warn: Warn = (text) => void warnings.add(text);
  if (facts.vaults.length === 0) warn('No secrets server is known; none can be reached');
  if (facts.apiServer.length === 0) warn('No address of the API server is known; it cannot be reached');
  const { namespace } = facts;
  const names = policyNames(namespace);
  const headOf = (name: string, label: string): PolicyHead => ({
    metadata: { name, namespace, labels: policyLabels },
    matchLabels: { [label]: 'true' },
  });
  const policies = [policyOf(headOf(names.main, protectedLabel), main(facts, warn), warn)];
  if (facts.stores.length > 0)
    policies.push(policyOf(headOf(names.store, proxyLabel), store(facts, warn), warn));
  return { policies, warnings: [...warnings].sort(byText) };
}

interface Draft {
  readonly grants: readonly EgressGrant[];
  readonly hosts: ReadonlyMap<string, readonly string[]>;
}

function gather(facts: EgressFacts, warn: Warn): Draft {
  const vaults = endpoints(facts.vaults, 'Secrets server', warn);
  const extra = narrowExtras(facts.extra, warn).map((each) => ({
    host: each.host ?? '',
    ...extraGrants(each, warn),
  }));
  const { grants, hosts } = together([...vaults, ...extra]);
  return { grants: [...grants, ...apiServerGrants(facts, warn), ...dnsGrants(facts.dns, warn)], hosts };
}

function gatherStores(facts: EgressFacts, warn: Warn): Draft {
  const { grants, hosts } = together(endpoints(facts.stores, 'Object store', warn));
  return { grants: [...grants, ...storeBlockGrants(facts, warn)], hosts };
}

type Named = EndpointGrants & { readonly host: string };

function endpoints(list: readonly EgressEndpoint[], what: string, warn: Warn): Named[] {
  return list.map((endpoint) => ({
    host: endpoint.host,
    ...endpointGrants(endpoint, what, 'TCP', warn),
  }));
}

function together(parts: readonly Named[]): Draft {
  const hosts = new Map<string, readonly string[]>();
  for (const { host, addresses } of parts) {
    if (addresses.length > 0) hosts.set(host, [...(hosts.get(host) ?? []), ...addresses]);
  }
  return { grants: parts.flatMap(({ grants }) => grants), hosts };
}

function apiServerGrants({ apiServer }: EgressFacts, warn: Warn): EgressGrant[] {
  const refuse = (text: string) => warn(`API server: ${text} is not a usable address; it is left out`);
  return apiServer.flatMap(({ address, port }) =>
    usable([address], isReachable, refuse).map((found) => addressGrant(found, 'TCP', port)),
  );
}

function policyOf(
  { metadata, matchLabels }: PolicyHead,
  { grants, hosts }: Draft,
  warn: Warn,
): NetworkPolicy {
  const annotations = hosts.size === 0 ? {} : { annotations: { [hostsAnnotation]: formatHosts(hosts) } };
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { ...metadata, ...annotations },
    spec: {
      podSelector: { matchLabels },
      policyTypes: ['Egress'],
      egress: rulesOf(onValidPorts(grants, warn)),
    },
  };
}
