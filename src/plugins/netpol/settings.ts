import {
  canonicalAddress,
  type Destination,
  formatBlock,
  isTooWide,
  parseBlock,
  plainHost,
} from '../../cluster/egress/address.ts';
import type { EgressDestination } from '../../cluster/resources/resources.ts';
import {
  boolean,
  enumeration,
  httpUrl,
  invalidValue,
  list,
  matching,
  type Parser,
  type Resolved,
  type Settings,
} from '../../runtime/settings/setting.ts';

const expectsHostAndPort =
  'host:port such as 192.0.2.1:6443, [2001:db8::1]:6443 or kubernetes.example.eu:443';

const name = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/;

const expectsDestination =
  'host[:port] or block[:port] with udp:// before it for UDP, such as db.example.eu:5432, udp://192.0.2.0/24:123 ' +
  'or [2001:db8::/32]:443; a block is /8 (IPv6: /7) or smaller';

/** Flags and variables of `svc netpol`. List settings are repeatable flags. */
export const netpolSettings = {
  vaultAddress: {
    variable: 'VAULT_ADDR',
    flag: 'vault-address',
    summary: 'Secrets server of pods that name none themselves; required without a cluster',
    ...httpUrl('https://vault.example.eu:8200'),
  },
  namespace: {
    variable: 'SVC_NETPOL_NAMESPACES',
    flag: 'namespace',
    summary:
      'Namespace to write policies for; unset: those of the cluster that have protected pods or ServiceConfigs',
    ...list(matching(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, 'the name of a namespace')),
  },
  apiServer: {
    variable: 'SVC_NETPOL_API_SERVERS',
    flag: 'api-server',
    summary: 'Address of the API server for pods, besides those that the cluster reports',
    ...list(hostAndPort()),
  },
  dns: {
    variable: 'SVC_NETPOL_DNS',
    flag: 'dns',
    summary:
      'Address of a DNS server, besides those that the cluster reports; without any: the usual pods of kube-system',
    ...list(address()),
  },
  allow: {
    variable: 'SVC_NETPOL_ALLOW',
    flag: 'allow',
    summary: 'Further destination of protected pods',
    ...list(destination()),
  },
  store: {
    variable: 'SVC_NETPOL_STORES',
    flag: 'store',
    summary: 'Object store of pods with the proxy, besides those that they name themselves',
    ...list(httpUrl('https://s3.example.eu')),
  },
  storeCidr: {
    variable: 'SVC_NETPOL_STORE_CIDRS',
    flag: 'store-cidr',
    summary: 'Address block of the object store, for one whose addresses keep changing',
    ...list(block()),
  },
  flavor: {
    variable: 'SVC_NETPOL_FLAVOR',
    flag: 'flavor',
    summary: 'Kind of policy; cilium follows names whose addresses change',
    fallback: 'kubernetes',
    ...enumeration('kubernetes', 'cilium'),
  },
  noCluster: {
    variable: 'SVC_NETPOL_NO_CLUSTER',
    flag: 'no-cluster',
    summary: 'Do not use a cluster, even if a kubeconfig names one',
    switch: true,
    fallback: 'false',
    ...boolean(),
  },
} satisfies Settings;

export type NetpolSettings = Resolved<typeof netpolSettings>;

/** Parses an IPv4 or IPv6 address into its shortest form. */
export function address(): Parser<string> {
  const expects = 'an address such as 10.96.0.10 or fd00::a';
  return { expects, parse: (text) => canonicalAddress(text) ?? invalidValue(expects) };
}

export function hostAndPort(): Parser<Destination> {
  return {
    expects: expectsHostAndPort,
    parse: (text) => parseHostAndPort(text) ?? invalidValue(expectsHostAndPort),
  };
}

function parseHostAndPort(text: string): Destination | undefined {
  const { host: given = '', port } = splitPort(text) ?? {};
  const host = hostOf(given);
  return host === undefined || port === undefined ? undefined : { host, port };
}

/** The default port is 443. */
export function destination(): Parser<EgressDestination> {
  return {
    expects: expectsDestination,
    parse: (text) => parseDestination(text) ?? invalidValue(expectsDestination),
  };
}

/** A block of addresses that does not permit nearly everything. */
function block(): Parser<string> {
  const blocks = 'a block of addresses such as 192.0.2.0/24, /8 (IPv6: /7) or smaller';
  return { expects: blocks, parse: (text) => inBlock(text)?.cidr ?? invalidValue(blocks) };
}

function parseDestination(text: string): EgressDestination | undefined {
  const [, scheme, rest = ''] = /^(?:(tcp|udp):\/\/)?(.*)$/.exec(text) ?? [];
  const { host: given = '', port = 443 } = splitPort(rest) ?? {};
  const where = given.includes('/') ? inBlock(given) : at(given);
  return where && { ...where, port, protocol: scheme === 'udp' ? 'UDP' : 'TCP' };
}

function inBlock(text: string): EgressDestination | undefined {
  const block = parseBlock(text);
  return block === undefined || isTooWide(block) ? undefined : { cidr: formatBlock(block) };
}

function at(text: string): EgressDestination | undefined {
  const host = hostOf(text);
  return host === undefined ? undefined : { host };
}

/** A normalized name or address; undefined for neither. A host that ends in digits must be an address. */
function hostOf(text: string): string | undefined {
  const host = plainHost(text);
  if (/(^|\.)\d+$/.test(host) || host.includes(':')) return canonicalAddress(host);
  return name.test(host) ? host : undefined;
}

/** A host without brackets, and the port if given. */
export interface SplitPort {
  readonly host: string;
  readonly port: number | undefined;
}

/** Splits `host`, `host:port`, `[IPv6]` and `[IPv6]:port`; undefined for any other text. */
function splitPort(text: string): SplitPort | undefined {
  const [, inBrackets, plain, digits] = /^(?:\[([^[\]]+)\]|([^[\]:]+))(?::([1-9]\d{0,4}))?$/.exec(text) ?? [];
  const host = inBrackets ?? plain;
  const port = digits === undefined ? undefined : Number(digits);
  if (host === undefined || (port ?? 0) > 65_535) return undefined;
  if (inBrackets !== undefined && !inBrackets.includes(':')) return undefined;
  return { host, port };
}
