import { type Destination, destinationOf, plainHost, serviceOfHost } from '../egress/address.ts';
import type {
  AddressAndPort,
  DnsFacts,
  EgressEndpoint,
  EgressFacts,
  ServiceFacts,
} from '../egress/contract.ts';
import { usualDns } from '../egress/destination-grants.ts';
import type { Protocol } from '../egress/grants.ts';
import type { Wanted } from '../egress/wanted.ts';
import type { EgressDestination } from '../resources/resources.ts';
import { type KubeClient, type KubeObject, unless } from './client.ts';
import { collectAll } from './list.ts';
import { createRecent, type NameBook } from './name-book.ts';

export interface ClusterAddressesOptions {
  readonly client: KubeClient;
  /** Addresses of names outside the cluster. */
  readonly names: NameBook;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** How long responses of the API server are reused. Default: 20 s. */
  readonly freshMs?: number;
  readonly clusterDomain?: string;
}

/** Addresses of pods' destinations, for egress policies. Every method throws a KubeError if the API server fails. */
export interface ClusterAddresses {
  /** @param namespace of the connecting pods, where a host without dots is a Service */
  endpointOf(
    to: Destination,
    namespace: string,
    signal: AbortSignal,
    protocol?: Protocol,
  ): Promise<EgressEndpoint>;
  extraOf(
    extra: EgressDestination,
    namespace: string,
    signal: AbortSignal,
  ): Promise<EgressFacts['extra'][number]>;
  /** Whether addresses of names were left out, because those of this namespace have too many. */
  isFull(namespace: string): boolean;
  apiServer(signal: AbortSignal): Promise<readonly AddressAndPort[]>;
  dns(signal: AbortSignal): Promise<DnsFacts>;
}

export function createClusterAddresses(options: ClusterAddressesOptions): ClusterAddresses {
  const { client, now, freshMs = 20_000 } = options;
  const recent = { now, freshMs, maxKeys: 2_000 };
  const servers = createRecent<readonly AddressAndPort[]>(recent);
  const dns = createRecent<DnsFacts>(recent);
  const inCluster = createRecent<Target>(recent);
  const endpointOf: ClusterAddresses['endpointOf'] = async (to, namespace, signal, protocol = 'TCP') => {
    const host = plainHost(to.host);
    const key = `${namespace} ${host} ${to.port} ${protocol}`;
    const target = await inCluster.get(key, () =>
      targetOf({ host, port: to.port }, namespace, protocol, options, signal),
    );
    if (target.kind !== 'name') return target;
    const addresses = await options.names.addressesOf(target.name, signal, namespace);
    return { kind: 'external', host: target.name, addresses, port: to.port };
  };
  return {
    endpointOf,
    async extraOf(extra, namespace, signal) {
      const { host, port = 443, protocol } = extra;
      if (host === undefined) return extra;
      const found = await endpointOf({ host, port }, namespace, signal, protocol);
      return found.kind === 'service'
        ? { ...extra, service: found.service }
        : { ...extra, addresses: found.addresses };
    },
    isFull: (namespace) => options.names.isFull(namespace),
    apiServer: (signal) => servers.get('', () => apiServerAddresses(client, signal)),
    dns: (signal) => dns.get('', () => dnsFacts(client, signal)),
  };
}

/** An endpoint, or a name that DNS has to resolve. */
type Target = EgressEndpoint | { readonly kind: 'name'; readonly name: string };

async function targetOf(
  { host, port }: Destination,
  namespace: string,
  protocol: Protocol,
  { client, clusterDomain }: ClusterAddressesOptions,
  signal: AbortSignal,
): Promise<Target> {
  const name = serviceOfHost(host, namespace, clusterDomain);
  const service = name && (await getService(client, name.namespace, name.name, signal));
  const nowhere: EgressEndpoint = { kind: 'external', host, addresses: [], port };
  if (service === undefined) return isName(host) && !name?.certain ? { kind: 'name', name: host } : nowhere;
  const { type, externalName = '' } = service.spec ?? {};
  if (type === 'ExternalName')
    return isName(externalName) ? { kind: 'name', name: plainHost(externalName) } : nowhere;
  const facts = await serviceFacts(client, service, port, protocol, signal);
  return facts === undefined ? nowhere : { kind: 'service', host, service: facts, port };
}

/** Whether the host is a name for DNS rather than an address. */
function isName(host: string): boolean {
  return /[a-z]/i.test(host) && !host.startsWith('[') && !host.includes(':');
}

/** The API server's addresses for pods: Service `default/kubernetes` and its endpoints. @throws KubeError */
async function apiServerAddresses(client: KubeClient, signal: AbortSignal): Promise<AddressAndPort[]> {
  const service = await getService(client, 'default', 'kubernetes', signal);
  const slices = await listSlices(client, 'default', 'kubernetes', signal);
  const ports = service?.spec?.ports ?? [];
  const own = service === undefined ? [] : addressesOf(service);
  const names = new Set([...ports, ...slices.flatMap((slice) => slice.ports ?? [])].map(({ name }) => name));
  return [
    ...own.flatMap((address) => ports.map(({ port }) => ({ address, port }))),
    ...[...names].flatMap((name) => endpointsOf(slices, name === undefined ? {} : { name }, 'TCP')),
  ];
}

const nodeCache = { path: '/apis/apps/v1/namespaces/kube-system/daemonsets/node-local-dns' };
/** Source: https://kubernetes.io/docs/tasks/administer-cluster/nodelocaldns/ */
const nodeCacheAddress = '169.254.20.10';
const dnsPort = 53;

/** The DNS servers of pods. @throws KubeError */
async function dnsFacts(client: KubeClient, signal: AbortSignal): Promise<DnsFacts> {
  const [found, hasCache] = await Promise.all([dnsService(client, signal), hasNodeCache(client, signal)]);
  if (!hasCache) return { service: found, addresses: [] };
  // the node cache exists besides the Service, not instead of it
  return { service: found ?? usualDns, addresses: [nodeCacheAddress] };
}

async function dnsService(client: KubeClient, signal: AbortSignal): Promise<ServiceFacts | undefined> {
  for (const find of candidates) {
    for (const service of await find(client, signal)) {
      const facts = await serviceFacts(client, service, dnsPort, 'UDP', signal);
      if (facts !== undefined) return facts;
    }
  }
  return undefined;
}

type Find = (client: KubeClient, signal: AbortSignal) => Promise<readonly Service[]>;

const named =
  (namespace: string, name: string): Find =>
  async (client, signal) => {
    const service = await unless(getService(client, namespace, name, signal), 'KUBE_DENIED');
    return service === undefined ? [] : [service];
  };

/** The usual Service, one with the usual label under another name, and OpenShift's. */
const candidates: readonly Find[] = [
  named('kube-system', 'kube-dns'),
  (client, signal) => listServices(client, 'kube-system', 'k8s-app=kube-dns', signal),
  named('openshift-dns', 'dns-default'),
];

/** Without permission to read it, the cache counts as absent. */
async function hasNodeCache(client: KubeClient, signal: AbortSignal): Promise<boolean> {
  const request = client.request({ ...nodeCache, signal });
  return (await unless(request, 'KUBE_NOT_FOUND', 'KUBE_DENIED')) !== undefined;
}

/**
 * Facts for an egress policy about one port of a Service.
 * @returns undefined if the Service lacks the port. @throws KubeError
 */
async function serviceFacts(
  client: KubeClient,
  service: Service,
  port: number,
  protocol: Protocol,
  signal: AbortSignal,
): Promise<ServiceFacts | undefined> {
  const { namespace = '', name } = service.metadata;
  const selector = service.spec?.selector ?? {};
  const clusterIPs = addressesOf(service);
  const asked = portOf(service, port, protocol, clusterIPs.length === 0);
  if (asked === undefined) return undefined;
  const selects = Object.keys(selector).length > 0;
  const known = typeof asked.targetPort === 'number' || asked.targetPort === undefined;
  const slices = selects && known ? [] : await listSlices(client, namespace, name, signal);
  const endpoints = endpointsOf(slices, asked, protocol);
  return {
    ...{ namespace, name, clusterIPs, selector, port },
    targetPort: asNumber(asked.targetPort ?? port, endpoints),
    endpoints: selects ? [] : endpoints,
  };
}

/** Empty for a headless Service. */
function addressesOf({ spec }: Service): string[] {
  return (spec?.clusterIPs ?? []).filter((address) => address !== 'None' && address !== '');
}

/** A headless Service maps no ports: any port of its pods can be used, declared or not. */
function portOf(
  { spec }: Service,
  port: number,
  protocol: Protocol,
  headless: boolean,
): ServicePort | undefined {
  const declared = spec?.ports?.find((each) => each.port === port && (each.protocol ?? 'TCP') === protocol);
  return declared ?? (headless ? { port } : undefined);
}

/** Addresses behind the Service; a slice has the Service's port names. */
function endpointsOf(
  slices: readonly EndpointSlice[],
  { name = '' }: Pick<ServicePort, 'name'>,
  protocol: Protocol,
): AddressAndPort[] {
  return slices
    .filter(({ addressType }) => addressType !== 'FQDN')
    .flatMap(({ endpoints, ports }) => {
      const addresses = (endpoints ?? []).flatMap((endpoint) => endpoint.addresses ?? []);
      return (ports ?? [])
        .filter((port) => (port.name ?? '') === name && (port.protocol ?? 'TCP') === protocol)
        .flatMap(({ port }) => (port == null ? [] : addresses.map((address) => ({ address, port }))));
    });
}

/**
 * Replaces a port name that means the same number everywhere by that number, which every network plugin understands.
 */
function asNumber(port: number | string, endpoints: readonly AddressAndPort[]): number | string {
  const numbers = new Set(endpoints.map((each) => each.port));
  const [only] = numbers;
  return typeof port === 'string' && numbers.size === 1 && only !== undefined ? only : port;
}

/** Source: https://kubernetes.io/docs/reference/kubernetes-api/service-resources/service-v1/ */
interface Service extends KubeObject {
  readonly spec?: {
    readonly type?: string;
    readonly externalName?: string;
    readonly clusterIPs?: readonly string[];
    readonly selector?: Readonly<Record<string, string>>;
    readonly ports?: readonly ServicePort[];
  };
}

interface ServicePort {
  readonly name?: string;
  readonly protocol?: string;
  readonly port: number;
  /** Default: the same as `port`. */
  readonly targetPort?: number | string;
}

/** Source: https://kubernetes.io/docs/reference/kubernetes-api/service-resources/endpoint-slice-v1/ */
interface EndpointSlice extends KubeObject {
  readonly addressType: 'IPv4' | 'IPv6' | 'FQDN';
  readonly endpoints?: readonly { readonly addresses?: readonly string[] }[] | null;
  readonly ports?:
    | readonly { readonly name?: string; readonly protocol?: string; readonly port?: number | null }[]
    | null;
}

/** @returns undefined if it does not exist, or is too large to be read. @throws KubeError */
function getService(
  client: KubeClient,
  namespace: string,
  name: string,
  signal: AbortSignal,
): Promise<Service | undefined> {
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/services/${encodeURIComponent(name)}`;
  return unless(client.request<Service>({ path, signal }), 'KUBE_NOT_FOUND', 'KUBE_TOO_LARGE');
}

/** Sorted by name. @throws KubeError */
async function listServices(
  client: KubeClient,
  namespace: string,
  labelSelector: string,
  signal: AbortSignal,
): Promise<Service[]> {
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/services`;
  const found = await collectAll(
    client,
    { path, labelSelector },
    (service: Service) => service,
    signal,
    leaveOut,
  );
  return found.sort((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1));
}

/** No policy allows the addresses of what is too large to be built, which no controller makes. */
const leaveOut = () => {};

/** Slices of one Service. @throws KubeError */
function listSlices(
  client: KubeClient,
  namespace: string,
  service: string,
  signal: AbortSignal,
): Promise<EndpointSlice[]> {
  const path = `/apis/discovery.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/endpointslices`;
  const labelSelector = `kubernetes.io/service-name=${service}`;
  return collectAll(client, { path, labelSelector }, (slice: EndpointSlice) => slice, signal, leaveOut);
}

const atOnce = 16;
/** Servers of one kind in a namespace. Who creates pods there names them, and may own the names and their addresses. */
const mostDestinations = 256;
/** Destinations of all ServiceConfigs of a namespace. */
const maxExtra = 1_024;
const tooManyAddresses =
  'The names that the pods use have too many addresses; some are left out of the policy: use fewer names, or blocks (cidr)';

/** @throws KubeError if the API server fails, since no policy must be made from incomplete facts */
export async function gatherFacts(
  namespace: string,
  wanted: Wanted,
  addresses: ClusterAddresses,
  signal: AbortSignal,
): Promise<EgressFacts> {
  const leftOut: string[] = [];
  const endpoints = (what: string, urls: ReadonlySet<string>): Promise<EgressEndpoint[]> => {
    // invalid URLs are reported where they were given
    const destinations = [...urls].flatMap((url) => destinationOf(url) ?? []);
    if (destinations.length > mostDestinations)
      leftOut.push(
        `The pods use ${destinations.length} ${what}; all but ${mostDestinations} are left out of the policy`,
      );
    const allowed = destinations.slice(0, mostDestinations);
    return inTurn(allowed, (to) => addresses.endpointOf(to, namespace, signal));
  };
  const extra = wanted.extra.slice(0, maxExtra);
  if (extra.length < wanted.extra.length)
    leftOut.push(
      `The ServiceConfigs have ${wanted.extra.length} egress destinations; all but ${maxExtra} are left out of the policy`,
    );
  const facts = {
    namespace,
    vaults: await endpoints('secrets servers', wanted.vaults),
    stores: await endpoints('object stores', wanted.stores),
    storeBlocks: wanted.storeBlocks,
    apiServer: await addresses.apiServer(signal),
    dns: await addresses.dns(signal),
    extra: await inTurn(extra, (each) => addresses.extraOf(each, namespace, signal)),
  };
  if (addresses.isFull(namespace)) leftOut.push(tooManyAddresses);
  return { ...facts, warnings: [...wanted.warnings, ...leftOut] };
}

/** A few at a time, so that a silent name server delays only some of them. */
async function inTurn<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const done: R[] = [];
  for (let at = 0; at < items.length; at += atOnce) {
    done.push(...(await Promise.all(items.slice(at, at + atOnce).map(work))));
  }
  return done;
}
