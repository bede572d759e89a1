import { byText, type Grant } from '../grants.ts';
import type { CiliumPeers, CiliumPorts, CiliumRule } from './contract.ts';

type PeerKind = keyof CiliumPeers;

/** One peer on one port, as Cilium names it. */
export interface CiliumGrant extends Pick<Grant, 'protocol' | 'port'> {
  readonly kind: PeerKind;
  readonly peer: unknown;
  /** It is a DNS server, whose answers Cilium has to see. */
  readonly dns?: boolean;
}

/** What is known of a destination as Kubernetes has it, in Cilium's words. */
export function asCilium({ peer, protocol, port }: Grant): CiliumGrant {
  if ('ipBlock' in peer) return { kind: 'toCIDR', peer: peer.ipBlock.cidr, protocol, port };
  const place = peer.namespaceSelector.matchLabels['kubernetes.io/metadata.name'] ?? '';
  return { ...podsIn(place, peer.podSelector.matchLabels), protocol, port };
}

export function podsIn(
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

/** Rules that allow exactly these, in one order whatever order they come in. */
export function ciliumRules(grants: readonly CiliumGrant[]): CiliumRule[] {
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
