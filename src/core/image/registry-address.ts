import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Ranges of ipaddr.js in which no server is that others can reach, or only what belongs to the machine or its cloud. */
const refusedRanges: ReadonlySet<string> = new Set([
  ...['unspecified', 'broadcast', 'multicast', 'loopback', 'linkLocal', 'discard'],
  // tunnels: an IPv4 address stands in them elsewhere than at their end
  ...['6to4', 'teredo', 'rfc6145'],
]);

/** What clouds tell their machines, credentials among it, outside of the link-local ranges. */
const cloudServices = ['fd00:ec2::/32', '100.100.100.200/32', '168.63.129.16/32', '192.0.0.192/32'].map(
  (text) => ipaddr.parseCIDR(text),
);

/** IPv6 blocks whose last four bytes are the IPv4 address that is reached: mapped, compatible, and NAT64. */
const carriers = ['::ffff:0:0/96', '::/96', '64:ff9b::/96', '64:ff9b:1::/48'].map((text) =>
  ipaddr.IPv6.parseCIDR(text),
);

/**
 * Whether an address may be that of a registry: neither the machine itself, in whatever notation, nor its link, nor what
 * its cloud tells it. Private addresses may, as many registries have one.
 * @param local whether loopback addresses may be, too
 */
export function mayBeRegistry(text: string, { local }: { readonly local: boolean }): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = reached(ipaddr.parse(text));
  if (address.range() === 'loopback') return local;
  return !refusedRanges.has(address.range()) && !cloudServices.some((block) => isIn(address, block));
}

function reached(address: Address): Address {
  if (address.kind() === 'ipv4' || address.range() === 'loopback') return address;
  const carried = carriers.some((block) => isIn(address, block));
  return carried ? new ipaddr.IPv4(address.toByteArray().slice(12)) : address;
}

function isIn(address: Address, [block, prefix]: [Address, number]): boolean {
  return address.kind() === block.kind() && address.match(block as never, prefix);
}
