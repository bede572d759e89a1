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

/** As `egressPolicies`, for clusters with Cilium; addresses that names have now are not needed. */
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

/** If Cilium redirects traffic for a node's DNS cache, it goes to a pod. */
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

/** A name stays a name: Cilium follows its addresses. */
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
  warn(
    `${what} ${host} is no name that is known outside of the cluster, and no Service; it cannot be reached`,
  );
  return [];
}

/** Cluster names are resolved by the cluster: one that is not a Service now allows nothing. */
function isNameElsewhere(host: string): boolean {
  return /^[a-z0-9_-]+(\.[a-z0-9_-]+)+$/.test(host) && serviceOfHost(host, '')?.certain !== true;
}

function isAddress(host: string): boolean {
  return parseAddress(host.replace(/^\[(.*)\]$/, '$1')) !== undefined;
}

/** The entity is the API server wherever it is; of the facts, only the ports are of use. */
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
  /** It is a DNS server, whose answers Cilium has to see. */
  readonly dns?: boolean;
}

/** What is known of a destination as Kubernetes has it, in Cilium's words. */
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

/** Rules that allow exactly these, in a canonical order. */
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

/** Exactly one kind of peer, because Cilium lets a rule combine few of them; without any it allows nothing. */
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
  /** Responses pass through Cilium, which learns the addresses of names from them. */
  readonly rules?: { readonly dns: readonly { readonly matchPattern: string }[] };
}
