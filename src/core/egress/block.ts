import ipaddr from 'ipaddr.js';
import { type Address, parseAddress } from './address.ts';

/** A block of addresses, of which the first one is `address`. */
export interface Block {
  readonly address: Address;
  readonly prefix: number;
}

/** A shorter prefix takes in so much that a few such blocks are every address. */
const shortestPrefix = { ipv4: 8, ipv6: 7 } as const;

/** IPv6 blocks each of which reaches all of IPv4: mapped addresses, and translation by NAT64. */
const allOfIpv4 = ['::ffff:0:0', '64:ff9b::'].map((text) => ({
  address: ipaddr.IPv6.parse(text),
  prefix: 96,
}));

/** Reads `address/prefix`; bits of a host are cleared. */
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

/** Whether it is, or nearly is, everything. */
export function isTooWide(block: Block): boolean {
  if (block.prefix < shortestPrefix[block.address.kind()]) return true;
  return allOfIpv4.some(
    (carrier) =>
      contains(block, carrier) ||
      (contains(carrier, block) && block.prefix - carrier.prefix < shortestPrefix.ipv4),
  );
}

/** Of all IPv4 addresses, and of those IPv6 addresses that are given out: 2000::/3. */
const wholePrefix = { ipv4: 0, ipv6: 3 } as const;
const largestShare = 1 / 4;

/** Whether blocks that are narrow enough by themselves are nearly everything together. */
export function areTooWide(blocks: readonly Block[]): boolean {
  const largest = blocks.filter(
    (block, index) =>
      !blocks.some(
        (other, at) => at !== index && contains(other, block) && (!contains(block, other) || at < index),
      ),
  );
  return (['ipv4', 'ipv6'] as const).some((kind) => {
    const shares = largest
      .filter(({ address }) => address.kind() === kind)
      .map(({ prefix }) => 2 ** (wholePrefix[kind] - prefix));
    return shares.reduce((sum, share) => sum + share, 0) > largestShare;
  });
}

/** Whether every address of `inner` is one of `outer`. */
export function contains(outer: Block, inner: Block): boolean {
  if (outer.address.kind() !== inner.address.kind() || outer.prefix > inner.prefix) return false;
  return firstOf(inner.address, outer.prefix).toString() === outer.address.toString();
}

function firstOf(address: Address, prefix: number): Address {
  const bytes = address.toByteArray().map((byte, index) => byte & maskOf(prefix - index * 8));
  return ipaddr.fromByteArray(bytes);
}

/** The byte of which so many leading bits are set. */
function maskOf(bits: number): number {
  return bits >= 8 ? 0xff : bits <= 0 ? 0 : (0xff << (8 - bits)) & 0xff;
}
