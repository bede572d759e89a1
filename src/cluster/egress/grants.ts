import { type Address, blockOf, parseAddress, parseBlock } from './address.ts';
import type { EgressRule, Peer } from './contract.ts';

export type Protocol = 'TCP' | 'UDP';

/** One peer on one port: the smallest unit that a policy allows. */
export interface EgressGrant {
  readonly peer: Peer;
  readonly protocol: Protocol;
  /** A number, or the name of a port of the peer's pods. */
  readonly port: number | string;
}

interface PeerPorts {
  readonly peer: Peer;
  readonly ports: Map<string, EgressRule['ports'][number]>;
}

/**
 * Rules that allow exactly these grants, in canonical order. Peers share a rule only if they have the same ports,
 * because a rule allows each of its peers on each of its ports.
 */
export function rulesOf(grants: readonly EgressGrant[]): EgressRule[] {
  const byPorts = new Map<string, { ports: EgressRule['ports']; peers: Peer[] }>();
  for (const entry of portsByPeer(grants)) {
    const keys = [...entry.ports.keys()].sort(byText);
    const key = keys.join();
    const rule = byPorts.get(key) ?? { ports: portsIn(keys, entry), peers: [] };
    rule.peers.push(entry.peer);
    byPorts.set(key, rule);
  }
  // peers are sorted, so rules are in the order of their first peers
  return [...byPorts.values()].map(({ ports, peers }) => ({ to: peers, ports }));
}

function portsByPeer(grants: readonly EgressGrant[]): PeerPorts[] {
  const known = new Map<string, PeerPorts>();
  for (const { peer, protocol, port } of grants) {
    // blocks are in their canonical form
    const key = 'ipBlock' in peer ? peer.ipBlock.cidr : JSON.stringify(inOrder(peer));
    const entry = known.get(key) ?? { peer: inOrder(peer), ports: new Map() };
    entry.ports.set(portKey(protocol, port), { protocol, port });
    known.set(key, entry);
  }
  const all = [...known.values()].map((entry) => ({ entry, key: sortKey(entry.peer) }));
  return all.sort((one, other) => byText(one.key, other.key)).map(({ entry }) => entry);
}

function portsIn(keys: readonly string[], { ports }: PeerPorts): EgressRule['ports'] {
  return keys.flatMap((key) => ports.get(key) ?? []);
}

/** Sorts numeric ports by value, before names. */
function portKey(protocol: Protocol, port: number | string): string {
  return typeof port === 'number' ? `0${String(port).padStart(5, '0')}/${protocol}` : `1${port}/${protocol}`;
}

/** Of a peer in order: sorts pods first, then IPv4, then IPv6, each by bits. */
function sortKey(peer: Peer): string {
  if (!('ipBlock' in peer)) return `0${JSON.stringify(peer)}`;
  const block = parseBlock(peer.ipBlock.cidr);
  if (block === undefined) return `2${peer.ipBlock.cidr}`;
  const bytes = block.address.toByteArray();
  return `1${bytes.length === 4 ? 4 : 6}${Buffer.from(bytes).toString('hex')}/${String(block.prefix).padStart(3, '0')}`;
}

function inOrder(peer: Peer): Peer {
  if ('ipBlock' in peer) return peer;
  const { namespaceSelector, podSelector } = peer;
  return {
    namespaceSelector: { matchLabels: sorted(namespaceSelector.matchLabels) },
    podSelector: { matchLabels: sorted(podSelector.matchLabels) },
  };
}

function sorted(labels: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).sort(([one], [other]) => byText(one, other)));
}

/** Whether the API server accepts the port: a number from 1 to 65535, or a name. */
function isPort(port: number | string): boolean {
  if (typeof port === 'string') return port !== '';
  return Number.isInteger(port) && port >= 1 && port <= 65_535;
}

/** Compares by code unit, independent of the locale. */
export function byText(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** Grants a single address on one port. */
export function addressGrant(address: Address, protocol: Protocol, port: number): EgressGrant {
  return { peer: { ipBlock: { cidr: blockOf(address) } }, protocol, port };
}

/** The addresses that can be servers; `refuse` is called for each of the others. */
export function usable(
  addresses: readonly string[],
  accepts: (address: Address) => boolean,
  refuse: (text: string) => void,
): Address[] {
  return addresses.flatMap((text) => {
    const address = parseAddress(text);
    if (address !== undefined && accepts(address)) return address;
    refuse(text);
    return [];
  });
}

/** The grants with a valid port; `warn` is called for the others. */
export function onValidPorts<T extends { readonly port: number | string }>(
  grants: readonly T[],
  warn: (text: string) => void,
): T[] {
  return grants.filter(({ port }) => {
    if (!isPort(port)) warn(`Port ${port} is not from 1 to 65535; it is left out`);
    return isPort(port);
  });
}
