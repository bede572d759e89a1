import {
  areTooWide,
  formatBlock,
  isDnsServer,
  isReachable,
  isTooWide,
  parseAddress,
  parseBlock,
} from './address.ts';
import {
  type DnsFacts,
  type EgressEndpoint,
  type EgressFacts,
  namespaceName,
  type Peer,
  type ServiceFacts,
} from './contract.ts';
import { addressGrant, type EgressGrant, type Protocol, usable } from './grants.ts';

/** Grants for one endpoint. */
export interface EndpointGrants {
  readonly grants: readonly EgressGrant[];
  /** Current addresses of a name; none for Services and addresses. */
  readonly addresses: readonly string[];
}

/** @param what names the endpoint in warnings, such as `Secrets server` */
export function endpointGrants(
  endpoint: EgressEndpoint,
  what: string,
  protocol: Protocol,
  warn: (text: string) => void,
): EndpointGrants {
  if (endpoint.kind === 'service') {
    return { grants: serviceGrants(endpoint.service, protocol, warn), addresses: [] };
  }
  const literal = literalOf(endpoint.host);
  const found = usable(literal === undefined ? endpoint.addresses : [literal], isReachable, (address) =>
    warn(`${what} ${endpoint.host}: ${address} cannot be the address of a remote server; it is left out`),
  );
  const grants = found.map((address) => addressGrant(address, protocol, endpoint.port));
  if (literal !== undefined) return { grants, addresses: [] };
  if (grants.length === 0) {
    if (!endpoint.isPending) warn(`${what} ${endpoint.host} has no known address; it cannot be reached`);
  } else warn(`${what} ${endpoint.host} is allowed by its current addresses, which can change`);
  return { grants, addresses: found.map(String) };
}

/** The address in a URL's host; undefined for a name. */
function literalOf(host: string): string | undefined {
  return parseAddress(host.replace(/^\[(.*)\]$/, '$1'))?.toString();
}

/**
 * Grants for one port of a Service: both the Service's own addresses and its endpoints, because it is unspecified
 * whether policies apply before or after address translation.
 */
function serviceGrants(
  service: ServiceFacts,
  protocol: Protocol,
  warn: (text: string) => void,
): EgressGrant[] {
  const refuse = (address: string) =>
    warn(`${nameOf(service)}: ${address} cannot be the address of a server; it is left out`);
  const own = usable(service.clusterIPs, isReachable, refuse);
  return [
    ...own.map((address) => addressGrant(address, protocol, service.port)),
    ...behind(service, own.length === 0, protocol, refuse, warn),
  ];
}

function behind(
  service: ServiceFacts,
  headless: boolean,
  protocol: Protocol,
  refuse: (address: string) => void,
  warn: (text: string) => void,
): EgressGrant[] {
  const peer = podsOf(service);
  // a client of a headless Service connects to its pods directly, on the given port
  if (peer !== undefined) return [{ peer, protocol, port: headless ? service.port : service.targetPort }];
  if (service.endpoints.length === 0) {
    warn(`${nameOf(service)} has neither a selector nor endpoints; its backends are not allowed`);
  }
  return service.endpoints.flatMap(({ address, port }) =>
    usable([address], isReachable, refuse).map((found) => addressGrant(found, protocol, port)),
  );
}

/** Undefined without a selector, because selecting everything would be wider than the Service. */
function podsOf({ namespace, selector }: ServiceFacts): Peer | undefined {
  if (Object.keys(selector).length === 0) return undefined;
  return {
    namespaceSelector: { matchLabels: { [namespaceName]: namespace } },
    podSelector: { matchLabels: selector },
  };
}

function nameOf({ namespace, name }: ServiceFacts): string {
  return `Service ${namespace}/${name}`;
}

const dnsPort = 53;

/** DNS Service of nearly every cluster. */
export const usualDns: ServiceFacts = {
  ...{ namespace: 'kube-system', name: 'kube-dns', selector: { 'k8s-app': 'kube-dns' } },
  ...{ clusterIPs: [], targetPort: dnsPort, port: dnsPort, endpoints: [] },
};

/** Both protocols, because long responses come over TCP. */
export function dnsGrants({ service, addresses }: DnsFacts, warn: (text: string) => void): EgressGrant[] {
  const refuse = (text: string) => warn(`DNS server ${text} is not a usable address; it is left out`);
  const servers = usable(addresses, isDnsServer, refuse);
  const unknown = service === undefined && servers.length === 0;
  if (unknown) warn('The DNS of the cluster is not known; the usual pods of kube-system are allowed');
  return (['TCP', 'UDP'] as const).flatMap((protocol) => [
    ...(unknown || service ? serviceGrants(service ?? usualDns, protocol, warn) : []),
    ...servers.map((address) => addressGrant(address, protocol, dnsPort)),
  ]);
}

type Warn = (text: string) => void;

export type Extra = EgressFacts['extra'][number];

/**
 * The valid further destinations. If blocks together cover nearly every address, all of them are dropped, because it is
 * unknown which one is intended. See `areTooWide`.
 */
export function narrowExtras(extra: readonly Extra[], warn: Warn): readonly Extra[] {
  const blocks = extra.flatMap(({ cidr }) => cidr ?? []);
  if (!areTogetherTooWide(blocks, 'further destinations', warn)) return extra;
  return extra.filter(({ cidr }) => cidr === undefined);
}

/** Grants for a destination that a person named. */
export function extraGrants(extra: Extra, warn: Warn): EndpointGrants {
  const { host, cidr, service, addresses = [], isPending, port = 443, protocol = 'TCP' } = extra;
  if (cidr !== undefined) return { grants: blockGrants(extra, cidr, warn), addresses: [] };
  if (host === undefined) return { grants: [], addresses: [] };
  const endpoint =
    service === undefined
      ? ({ kind: 'external', host, addresses, port, ...(isPending && { isPending }) } as const)
      : ({ kind: 'service', host, service, port } as const);
  return endpointGrants(endpoint, 'Further destination', protocol, warn);
}

function blockGrants({ port = 443, protocol = 'TCP' }: Extra, cidr: string, warn: Warn): EgressGrant[] {
  const block = usableBlock(cidr, 'Further destination', warn);
  return block === undefined ? [] : [{ peer: { ipBlock: { cidr: block } }, protocol, port }];
}

/** Blocks declared for stores with changing addresses, on the ports of stores outside the cluster. */
export function storeBlockGrants(
  { stores, storeBlocks = [] }: Pick<EgressFacts, 'stores' | 'storeBlocks'>,
  warn: Warn,
): EgressGrant[] {
  const outside = stores.filter(({ kind }) => kind === 'external');
  const ports = [...new Set(outside.map(({ port }) => port))];
  if (areTogetherTooWide(storeBlocks, 'object store', warn)) return [];
  const blocks = storeBlocks.flatMap((cidr) => usableBlock(cidr, 'Block of the object store', warn) ?? []);
  return blocks.flatMap((cidr) =>
    ports.map((port) => ({ peer: { ipBlock: { cidr } }, protocol: 'TCP' as const, port })),
  );
}

/** Blocks that are too wide individually are dropped anyway, so they do not count. */
function areTogetherTooWide(cidrs: readonly string[], what: string, warn: Warn): boolean {
  const narrow = cidrs.flatMap((cidr) => parseBlock(cidr) ?? []).filter((block) => !isTooWide(block));
  const tooWide = areTooWide(narrow);
  if (tooWide)
    warn(
      `The blocks of the ${what} together cover more than a quarter of all addresses; they are left out: name smaller ones`,
    );
  return tooWide;
}

function usableBlock(cidr: string, what: string, warn: Warn): string | undefined {
  const block = parseBlock(cidr);
  if (block !== undefined && !isTooWide(block)) return formatBlock(block);
  warn(
    block === undefined
      ? `${what} ${cidr} is not a block of addresses such as 192.0.2.0/24; it is left out`
      : `${what} ${cidr} is too wide; it is left out: name blocks of /8 (IPv6: /7) or smaller`,
  );
  return undefined;
}
