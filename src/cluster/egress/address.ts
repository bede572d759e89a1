import ipaddr from 'ipaddr.js';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/**
 * Parses an address in its usual notation: four decimal numbers, or IPv6 without a zone. An IPv4-mapped IPv6 address
 * becomes the IPv4 address, because that is what leaves the pod.
 */
export function parseAddress(text: string): Address | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  if (!ipaddr.IPv6.isValid(text) || text.includes('%')) return undefined;
  const address = ipaddr.IPv6.parse(text);
  return address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

/** The shortest common form, so that equal addresses are equal texts. */
export function canonicalAddress(text: string): string | undefined {
  return parseAddress(text)?.toString();
}

/** The block of a single address: `/32` or `/128`. */
export function blockOf(address: Address): string {
  return `${address.toString()}/${address.kind() === 'ipv4' ? 32 : 128}`;
}

/** Ranges of ipaddr.js without servers that others can reach, or with services of the machine or its cloud only. */
const neverBeyondThePod: ReadonlySet<string> = new Set([
  ...['unspecified', 'broadcast', 'multicast', 'loopback', 'linkLocal', 'discard'],
  // tunnels: they contain an IPv4 address, but not at their end
  ...['6to4', 'teredo', 'rfc6145'],
]);

/** Cloud metadata servers outside the link-local ranges; they hand out credentials. */
const metadataServers = [
  ...['fd00:ec2::/32', 'fd20:ce::254/128', 'fd00:c1::a9fe:0/112'], // AWS, Google Cloud, Oracle
  ...['100.100.100.200/32', '168.63.129.16/32', '192.0.0.192/32'], // Alibaba, Azure, Oracle before
].map((text) => ipaddr.parseCIDR(text));

/** IPv6 blocks whose last four bytes are the IPv4 address that is actually reached: mapped, compatible, and NAT64. */
const carriers = ['::ffff:0:0/96', '::/96', '64:ff9b::/96', '64:ff9b:1::/48'].map((text) =>
  ipaddr.IPv6.parseCIDR(text),
);

/** Whether a remote server can have the address: not one of this machine, nor a service of its cloud. */
export function isReachable(address: Address): boolean {
  const end = endOf(address);
  return !neverBeyondThePod.has(end.range()) && !metadataServers.some((block) => isIn(end, block));
}

/** The address that is actually reached. */
export function endOf(address: Address): Address {
  if (address.kind() === 'ipv4' || address.range() === 'loopback') return address;
  const carried = carriers.some((block) => isIn(address, block));
  return carried ? new ipaddr.IPv4(address.toByteArray().slice(12)) : address;
}

function isIn(address: Address, [block, prefix]: [Address, number]): boolean {
  return address.kind() === block.kind() && address.match(block as never, prefix);
}

/** Link-local addresses are where nodes keep their DNS caches, and clouds have their DNS beside their metadata. */
export function isDnsServer(address: Address): boolean {
  return (
    isReachable(address) ||
    address.range() === 'linkLocal' ||
    metadataServers.some((block) => isIn(address, block))
  );
}

/** A block of addresses; `address` is the first one. */
export interface Block {
  readonly address: Address;
  readonly prefix: number;
}

/** With a shorter prefix, a few blocks would cover every address. */
const shortestPrefix = { ipv4: 8, ipv6: 7 } as const;

/** IPv6 blocks each of which reaches all of IPv4: mapped addresses, and translation by NAT64. */
const allOfIpv4 = ['::ffff:0:0', '64:ff9b::'].map((text) => ({
  address: ipaddr.IPv6.parse(text),
  prefix: 96,
}));

/** Reads `address/prefix`; host bits are cleared. */
export function parseBlock(text: string): Block | undefined {
  const [, host = '', digits = ''] = /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(text) ?? [];
  const address = parseAddress(host);
  if (address === undefined) return undefined;
  const mapped = address.kind() === 'ipv4' && host.includes(':');
  const prefix = Number(digits) - (mapped ? 96 : 0);
  const bits = address.toByteArray().length * 8;
  return prefix >= 0 && prefix <= bits ? { address: firstOf(address, prefix), prefix } : undefined;
}

export function formatBlock({ address, prefix }: Block): string {
  return `${address.toString()}/${prefix}`;
}

/** Whether the block covers every address, or nearly so. */
export function isTooWide(block: Block): boolean {
  if (block.prefix < shortestPrefix[block.address.kind()]) return true;
  return allOfIpv4.some(
    (carrier) =>
      contains(block, carrier) ||
      (contains(carrier, block) && block.prefix - carrier.prefix < shortestPrefix.ipv4),
  );
}

/** Prefix lengths of all IPv4 addresses, and of the assigned IPv6 addresses, 2000::/3. */
const wholePrefix = { ipv4: 0, ipv6: 3 } as const;
const largestShare = 1 / 4;

/** Whether blocks that are narrow enough individually together cover nearly every address. */
export function areTooWide(blocks: readonly Block[]): boolean {
  const shares = { ipv4: 0, ipv6: 0 };
  for (const { address, prefix } of largestOf(blocks)) {
    const kind = address.kind();
    shares[kind] += 2 ** (wholePrefix[kind] - prefix);
  }
  return Math.max(shares.ipv4, shares.ipv6) > largestShare;
}

/**
 * The blocks that no other contains. Sorted, a block that is contained follows the one that contains it: comparing all
 * with all would take minutes for those of a namespace.
 */
function largestOf(blocks: readonly Block[]): Block[] {
  const keyOf = ({ address, prefix }: Block) =>
    `${address.kind()} ${Buffer.from(address.toByteArray()).toString('hex')} ${String(prefix).padStart(3, '0')}`;
  const sorted = blocks
    .map((block) => ({ block, key: keyOf(block) }))
    .sort(({ key: one }, { key: other }) => (one < other ? -1 : one > other ? 1 : 0));
  const largest: Block[] = [];
  for (const { block } of sorted) {
    const last = largest.at(-1);
    if (last === undefined || !contains(last, block)) largest.push(block);
  }
  return largest;
}

export function contains(outer: Block, inner: Block): boolean {
  if (outer.address.kind() !== inner.address.kind() || outer.prefix > inner.prefix) return false;
  return firstOf(inner.address, outer.prefix).toString() === outer.address.toString();
}

/** Whether one of the blocks contains another, in as many steps as they have lengths: there may be thousands. */
export function coverOf(blocks: readonly Block[]): (inner: Block) => boolean {
  const byLength = new Map<string, Block & { readonly first: Set<string> }>();
  for (const block of blocks) {
    const key = `${block.address.kind()}/${block.prefix}`;
    const alike = byLength.get(key) ?? { ...block, first: new Set() };
    byLength.set(key, alike);
    alike.first.add(block.address.toString());
  }
  const lengths = [...byLength.values()];
  return ({ address, prefix }) =>
    lengths.some(
      (outer) =>
        outer.address.kind() === address.kind() &&
        outer.prefix <= prefix &&
        outer.first.has(firstOf(address, outer.prefix).toString()),
    );
}

function firstOf(address: Address, prefix: number): Address {
  const bytes = address.toByteArray().map((byte, index) => byte & maskOf(prefix - index * 8));
  return ipaddr.fromByteArray(bytes);
}

/** The byte with this many leading bits set. */
function maskOf(bits: number): number {
  return bits >= 8 ? 0xff : bits <= 0 ? 0 : (0xff << (8 - bits)) & 0xff;
}

/** Target of a connection. */
export interface Destination {
  /** A name without trailing dot, or an address; IPv6 in brackets. */
  readonly host: string;
  readonly port: number;
}

/** Host and port that a URL connects to; undefined unless it is an HTTP URL. */
export function destinationOf(text: string): Destination | undefined {
  const url = URL.parse(text);
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') return undefined;
  const usual = url.protocol === 'https:' ? 443 : 80;
  return { host: plainHost(url.hostname), port: url.port === '' ? usual : Number(url.port) };
}

/** Normalizes a name, so that equal names are equal texts. */
export function plainHost(host: string): string {
  return host.toLowerCase().replace(/\.$/, '');
}

export interface ServiceName {
  readonly namespace: string;
  readonly name: string;
  /** The name is unambiguous, because it contains `svc`. */
  readonly certain: boolean;
}

/**
 * The Service that a host means for a pod of `namespace`, following its search path: `name`, `name.namespace`,
 * `name.namespace.svc`, the same with the cluster's domain, and names of single pods of a Service.
 */
export function serviceOfHost(
  host: string,
  namespace: string,
  clusterDomain = 'cluster.local',
): ServiceName | undefined {
  if (parseAddress(host) !== undefined) return undefined;
  const domain = `.svc.${clusterDomain}`;
  const labels = (host.endsWith(domain) ? host.slice(0, -clusterDomain.length - 1) : host).split('.');
  if (!labels.every((label) => /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(label))) return undefined;
  const certain = labels.at(-1) === 'svc' && labels.length > 2;
  const [name = '', own = namespace, ...more] = certain ? labels.slice(-3, -1) : labels;
  const depth = certain ? labels.length - 3 : more.length;
  // `pod.service.namespace.svc` names a pod of a headless Service
  return depth <= (certain ? 1 : 0) ? { namespace: own, name, certain } : undefined;
}
