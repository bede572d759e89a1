import ipaddr from 'ipaddr.js';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/**
 * An address as it is usually written: four decimal numbers, or IPv6 without a zone. What stands for an IPv4 address
 * within IPv6 becomes that address, since it is what leaves the pod.
 */
export function parseAddress(text: string): Address | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  if (!ipaddr.IPv6.isValid(text) || text.includes('%')) return undefined;
  const address = ipaddr.IPv6.parse(text);
  return address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

/** Its shortest common form, so that the same address is always the same text. */
export function canonicalAddress(text: string): string | undefined {
  return parseAddress(text)?.toString();
}

/** The block of that one address: `/32` or `/128`. */
export function blockOf(address: Address): string {
  return `${address.toString()}/${address.kind() === 'ipv4' ? 32 : 128}`;
}

const neverBeyondThePod: ReadonlySet<string> = new Set([
  'unspecified',
  'broadcast',
  'multicast',
  'loopback',
  'linkLocal',
]);

/** Whether a server elsewhere can have it. Link-local ones are the cloud's metadata services, no servers. */
export function isReachable(address: Address): boolean {
  return !neverBeyondThePod.has(address.range());
}

/** Link-local addresses are where nodes keep their DNS caches. */
export function isDnsServer(address: Address): boolean {
  return isReachable(address) || address.range() === 'linkLocal';
}
