import { isReachable, parseAddress, serviceOfHost } from './address.ts';
import type { EgressEndpoint, EgressFacts, EgressPolicies } from './contract.ts';
import {
  dnsGrants,
  type Extra,
  endpointGrants,
  extraGrants,
  narrowExtras,
  storeBlockGrants,
} from './destination-grants.ts';
import { byText, type EgressGrant, onValidPorts, type Protocol } from './grants.ts';
import { type PolicyHead, policiesOf } from './policies.ts';

type Warn = (text: string) => void;

/** Like `egressPolicies`, for clusters with Cilium; does not need the current addresses of names. */
export function ciliumPolicies(facts: EgressFacts): EgressPolicies<CiliumPolicy> {
  return policiesOf(facts, { main: mainGrants, store: storeGrants, policyOf });
}

function mainGrants({ vaults, extra, apiServer, dns }: EgressFacts, warn: Warn): CiliumGrant[] {
  return [
    ...vaults.flatMap((each) => ciliumEndpoint(each, 'Secrets server', 'TCP', warn)),
    ...narrowExtras(extra, warn).flatMap((each) => ciliumExtra(each, warn)),
    ...ciliumApiServer(apiServer),
    ...dnsGrants(dns, warn).map((grant) => ({ ...asCilium(grant), dns: true })),
    ...nodeCacheGrants(dns.addresses),
  ];
}

function storeGrants(facts: EgressFacts, warn: Warn): CiliumGrant[] {
  const stores = facts.stores.flatMap((each) => ciliumEndpoint(each, 'Object store', 'TCP', warn));
  return [...stores, ...storeBlockGrants(facts, warn).map(asCilium)];
}

/** If Cilium redirects the traffic for a node's DNS cache, the traffic goes to a pod. */
function nodeCacheGrants(addresses: readonly string[]): CiliumGrant[] {
  if (!addresses.includes('169.254.20.10')) return [];
  const cache = podsIn('kube-system', { 'k8s-app': 'node-local-dns' });
  return (['TCP', 'UDP'] as const).map((protocol) => ({ ...cache, protocol, port: 53, dns: true }));
}

function policyOf(
  { metadata, matchLabels }: PolicyHead,
  grants: readonly CiliumGrant[],
  warn: Warn,
): CiliumPolicy {
  const rules = ciliumRules(onValidPorts(grants, warn));
  return {
    apiVersion: 'cilium.io/v2',
    kind: 'CiliumNetworkPolicy',
    metadata,
    spec: {
      endpointSelector: { matchLabels },
      // no rule at all would leave the pods unrestricted; an empty rule allows nothing
      egress: rules.length === 0 ? [{}] : rules,
    },
  };
}

/** Names stay names, because Cilium tracks their addresses. */
function ciliumEndpoint(
  endpoint: EgressEndpoint,
  what: string,
  protocol: Protocol,
  warn: Warn,
): CiliumGrant[] {
  const { host, kind, port } = endpoint;
  if (kind === 'external' && !isAddress(host)) return named(host, what, { protocol, port }, warn);
  return endpointGrants(endpoint, what, protocol, warn).grants.map(asCilium);
}

function ciliumExtra(extra: Extra, warn: Warn): CiliumGrant[] {
  const { host, service, port = 443, protocol = 'TCP' } = extra;
  if (host !== undefined && service === undefined && !isAddress(host)) {
    return named(host, 'Further destination', { protocol, port }, warn);
  }
  return extraGrants(extra, warn).grants.map(asCilium);
}

function named(
  host: string,
  what: string,
  on: Pick<CiliumGrant, 'protocol' | 'port'>,
  warn: Warn,
): CiliumGrant[] {
  if (isNameElsewhere(host)) return [{ kind: 'toFQDNs', peer: { matchName: host }, ...on }];
  warn(`${what} ${host} is neither a Service nor a name known outside the cluster; it cannot be reached`);
  return [];
}

/** Names of the cluster are resolved by the cluster, so one that is not a Service now allows nothing. */
function isNameElsewhere(host: string): boolean {
  return /^[a-z0-9_-]+(\.[a-z0-9_-]+)+$/.test(host) && serviceOfHost(host, '')?.certain !== true;
}

function isAddress(host: string): boolean {
  return parseAddress(host.replace(/^\[(.*)\]$/, '$1')) !== undefined;
}

/** The entity matches the API server at any address, so only the ports matter. */
function ciliumApiServer(
  servers: readonly { readonly address: string; readonly port: number }[],
): CiliumGrant[] {
  return servers
    .filter(({ address }) => {
      const found = parseAddress(address);
      return found !== undefined && isReachable(found);
    })
    .map(({ port }) => ({ kind: 'toEntities', peer: 'kube-apiserver', protocol: 'TCP', port }));
}

type PeerKind = keyof CiliumPeers;

/** One peer on one port, as Cilium names it. */
interface CiliumGrant extends Pick<EgressGrant, 'protocol' | 'port'> {
  readonly kind: PeerKind;
  readonly peer: unknown;
  /** A DNS server, whose responses Cilium must inspect. */
  readonly dns?: boolean;
}

/** Translates a grant from Kubernetes' terms to Cilium's. */
function asCilium({ peer, protocol, port }: EgressGrant): CiliumGrant {
  if ('ipBlock' in peer) return { kind: 'toCIDR', peer: peer.ipBlock.cidr, protocol, port };
  const place = peer.namespaceSelector.matchLabels['kubernetes.io/metadata.name'] ?? '';
  return { ...podsIn(place, peer.podSelector.matchLabels), protocol, port };
}

function podsIn(
  namespace: string,
  labels: Readonly<Record<string, string>>,
): Pick<CiliumGrant, 'kind' | 'peer'> {
  const own = Object.entries(labels).map(([key, value]) => [`k8s:${key}`, value] as const);
  const all = [...own, ['k8s:io.kubernetes.pod.namespace', namespace] as const];
  const matchLabels = Object.fromEntries(all.sort(([one], [other]) => byText(one, other)));
  return { kind: 'toEndpoints', peer: { matchLabels } };
}

interface Together {
  readonly kind: PeerKind;
  readonly dns: boolean;
  readonly peer: unknown;
  readonly ports: Map<string, CiliumPorts['ports'][number]>;
}

/** Rules that allow exactly these grants, in canonical order. */
function ciliumRules(grants: readonly CiliumGrant[]): CiliumRule[] {
  const rules = new Map<string, { first: Together; keys: string[]; peers: unknown[] }>();
  for (const each of byPeer(grants)) {
    const keys = [...each.ports.keys()].sort(byText);
    const key = JSON.stringify([each.kind, each.dns, keys]);
    const rule = rules.get(key) ?? { first: each, keys, peers: [] };
    rule.peers.push(each.peer);
    rules.set(key, rule);
  }
  return [...rules.values()].map(({ first, keys, peers }) => ({
    [first.kind]: peers,
    toPorts: [portsOf(first, keys)],
  }));
}

function byPeer(grants: readonly CiliumGrant[]): Together[] {
  const known = new Map<string, Together>();
  for (const { kind, peer, protocol, port, dns = false } of grants) {
    const key = JSON.stringify([kind, peer, dns]);
    const entry = known.get(key) ?? { kind, dns, peer, ports: new Map() };
    entry.ports.set(`${String(port).padStart(5, '0')}/${protocol}`, { port: String(port), protocol });
    known.set(key, entry);
  }
  return [...known].sort(([one], [other]) => byText(one, other)).map(([, entry]) => entry);
}

function portsOf({ ports, dns }: Together, keys: readonly string[]): CiliumPorts {
  const list = keys.flatMap((key) => ports.get(key) ?? []);
  return dns ? { ports: list, rules: { dns: [{ matchPattern: '*' }] } } : { ports: list };
}

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

/** Has exactly one kind of peer, because Cilium lets a rule combine only few; without peers a rule allows nothing. */
export interface CiliumRule extends CiliumPeers {
  readonly toPorts?: readonly [CiliumPorts];
}

export interface CiliumPeers {
  readonly toEndpoints?: readonly { readonly matchLabels: Labels }[];
  readonly toEntities?: readonly 'kube-apiserver'[];
  readonly toCIDR?: readonly string[];
  readonly toFQDNs?: readonly { readonly matchName: string }[];
}

interface CiliumPorts {
  readonly ports: readonly { readonly port: string; readonly protocol: 'TCP' | 'UDP' }[];
  /** Cilium inspects DNS responses to learn the addresses of names. */
  readonly rules?: { readonly dns: readonly { readonly matchPattern: string }[] };
}
