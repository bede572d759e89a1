import ipaddr from 'ipaddr.js';

/** One authentication scheme offered by a `WWW-Authenticate` header; names in lower case. */
export interface AuthChallenge {
  readonly scheme: string;
  readonly parameters: Readonly<Record<string, string>>;
}

const longest = 8_192;
const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const parameter = new RegExp(`(${token})\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|(${token}))`, 'y');
const schemeForm = new RegExp(`(${token})(?=\\s|,|$)`, 'y');

/**
 * The challenges of a `WWW-Authenticate` header in order (RFC 9110, section 11.6.1), up to the first malformed one. If
 * a parameter repeats, its first value counts.
 */
export function parseChallenges(header: string): AuthChallenge[] {
  const text = header.slice(0, longest);
  const challenges: { scheme: string; parameters: Record<string, string> }[] = [];
  for (let at = skip(text, 0); at < text.length; at = skip(text, at)) {
    const pair = matchAt(parameter, text, at);
    const current = challenges.at(-1);
    const [matched, name = '', quoted, plain = ''] = pair ?? matchAt(schemeForm, text, at) ?? [''];
    if (matched === '' || (pair && current === undefined)) break;
    if (pair && current) {
      const key = name.toLowerCase();
      if (!Object.hasOwn(current.parameters, key)) current.parameters[key] = unquoted(quoted) ?? plain;
    } else challenges.push({ scheme: name.toLowerCase(), parameters: Object.create(null) });
    at += matched.length;
  }
  return challenges;
}

function matchAt(form: RegExp, text: string, at: number): RegExpExecArray | null {
  form.lastIndex = at;
  return form.exec(text);
}

function skip(text: string, from: number): number {
  let at = from;
  while (at < text.length && /[\s,]/.test(text.charAt(at))) at++;
  return at;
}

function unquoted(text: string | undefined): string | undefined {
  return text?.replace(/\\(.)/g, '$1');
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Ranges of ipaddr.js without servers that others can reach, or with services of the machine or its cloud only. */
const refusedRanges: ReadonlySet<string> = new Set([
  ...['unspecified', 'broadcast', 'multicast', 'loopback', 'linkLocal', 'discard'],
  // tunnels: they contain an IPv4 address, but not at their end
  ...['6to4', 'teredo', 'rfc6145'],
]);

/** Cloud metadata servers outside the link-local ranges; they hand out credentials. */
const cloudServices = ['fd00:ec2::/32', '100.100.100.200/32', '168.63.129.16/32', '192.0.0.192/32'].map(
  (text) => ipaddr.parseCIDR(text),
);

/** IPv6 blocks whose last four bytes are the IPv4 address that is actually reached: mapped, compatible, and NAT64. */
const carriers = ['::ffff:0:0/96', '::/96', '64:ff9b::/96', '64:ff9b:1::/48'].map((text) =>
  ipaddr.IPv6.parseCIDR(text),
);

/**
 * Whether an address may belong to a registry: not loopback in any notation, not link-local, and not a metadata server.
 * Private addresses are allowed, because many registries have one.
 * @param local whether loopback addresses are also allowed
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
