import { type Destination, plainHost, serviceOfHost } from '../egress/address.ts';
import type {
  AddressAndPort,
  DnsFacts,
  EgressEndpoint,
  EgressFacts,
  ServiceFacts,
} from '../egress/contract.ts';
import { usualDns } from '../egress/destination-grants.ts';
import type { Protocol } from '../egress/grants.ts';
import type { EgressDestination } from '../resources/resources.ts';
import { type KubeClient, type KubeObject, unless } from './client.ts';
import { collectAll } from './list.ts';
import { createRecent, type NameBook, type Patience } from './name-book.ts';

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
  endpointOf(to: Destination, namespace: string, signal: AbortSignal, how?: LookUp): Promise<EgressEndpoint>;
  extraOf(
    extra: EgressDestination,
    namespace: string,
    signal: AbortSignal,
    how?: Pick<LookUp, 'patience'>,
  ): Promise<EgressFacts['extra'][number]>;
  /** Whether addresses of names were left out, because those of this namespace have too many. */
  isFull(namespace: string): boolean;
  apiServer(signal: AbortSignal): Promise<readonly AddressAndPort[]>;
  dns(signal: AbortSignal): Promise<DnsFacts>;
}

interface LookUp {
  /** Default: TCP. */
  readonly protocol?: Protocol;
  /** As of `NameBook.addressesOf`. */
  readonly patience?: Patience | undefined;
}

export function createClusterAddresses(options: ClusterAddressesOptions): ClusterAddresses {
  const { client, now, freshMs = 20_000 } = options;
  const recent = { now, freshMs, max: 2_000 };
  const servers = createRecent<readonly AddressAndPort[]>(recent);
  const dns = createRecent<DnsFacts>(recent);
  const inCluster = createRecent<Target>({ now, freshMs, max: maxRemembered, costOf: costOfTarget });
  const endpointOf: ClusterAddresses['endpointOf'] = async (to, namespace, signal, how = {}) => {
    const { protocol = 'TCP', patience } = how;
    const host = plainHost(to.host);
    const key = `${namespace} ${host} ${to.port} ${protocol}`;
    const target = await inCluster.get(key, () =>
      targetOf({ host, port: to.port }, namespace, protocol, options, signal),
    );
    if (target.kind !== 'name') return target;
    const { name } = target;
    const addresses = await options.names.addressesOf(name, signal, namespace, patience);
    const isPending = options.names.isPending(name, namespace);
    return { kind: 'external', host: name, addresses, port: to.port, ...(isPending && { isPending }) };
  };
  return {
    endpointOf,
    async extraOf(extra, namespace, signal, how = {}) {
      const { host, port = 443, protocol = 'TCP' } = extra;
      if (host === undefined) return extra;
      const found = await endpointOf({ host, port }, namespace, signal, { ...how, protocol });
      if (found.kind === 'service') return { ...extra, service: found.service };
      const { addresses, isPending } = found;
      return { ...extra, addresses, ...(isPending && { isPending }) };
    },
    isFull: (namespace) => options.names.isFull(namespace),
    apiServer: (signal) => servers.get('', () => apiServerAddresses(client, signal)),
    dns: (signal) => dns.get('', () => dnsFacts(client, signal)),
  };
}

/** An endpoint, or a name that DNS has to resolve. */
type Target = EgressEndpoint | { readonly kind: 'name'; readonly name: string };

/** Of a Service without a selector, whose endpoints are written by whoever may create EndpointSlices there. */
export const maxEndpoints = 256;
/** Endpoints of all Services that are remembered; a Service counts as eight more. */
const maxRemembered = 16_384;
const costOfTarget = (target: Target): number =>
  8 + (target.kind === 'service' ? target.service.endpoints.length : 0);

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
  const kubernetes = { namespace: 'default', name: 'kubernetes' };
  const behind = await endpointsOf(client, kubernetes, { protocol: 'TCP' }, signal);
  const ports = service?.spec?.ports ?? [];
  const own = service === undefined ? [] : addressesOf(service);
  return [...own.flatMap((address) => ports.map(({ port }) => ({ address, port }))), ...behind];
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
  const wanted = { protocol, name: asked.name ?? '', maxOfSlice: selects ? 1 : maxEndpoints };
  const endpoints = selects && known ? [] : await endpointsOf(client, { namespace, name }, wanted, signal);
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

interface WantedPorts {
  readonly protocol: Protocol;
  /** Of the port, which a slice has from its Service. Default: any */
  readonly name?: string;
  /** Addresses of one slice; one is enough to learn its ports. Default: as many as of the Service */
  readonly maxOfSlice?: number;
}

/** The first addresses behind a Service; nothing else of its slices is kept. @throws KubeError */
async function endpointsOf(
  client: KubeClient,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  wanted: WantedPorts,
  signal: AbortSignal,
): Promise<AddressAndPort[]> {
  const path = `/apis/discovery.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/endpointslices`;
  const labelSelector = `kubernetes.io/service-name=${name}`;
  const keep = (slice: EndpointSlice, found: readonly (readonly AddressAndPort[])[]) => {
    const left = maxEndpoints - found.reduce((sum, { length }) => sum + length, 0);
    const some = firstOf(slice, wanted, left);
    return some.length === 0 ? undefined : some;
  };
  return (await collectAll(client, { path, labelSelector }, keep, signal, leaveOut)).flat();
}

function firstOf(
  { addressType, endpoints, ports }: EndpointSlice,
  { protocol, name, maxOfSlice = maxEndpoints }: WantedPorts,
  left: number,
): AddressAndPort[] {
  const found: AddressAndPort[] = [];
  if (addressType === 'FQDN') return found;
  const asked = (ports ?? []).filter(
    (port) => (name === undefined || (port.name ?? '') === name) && (port.protocol ?? 'TCP') === protocol,
  );
  for (const { port } of asked) {
    let ofPort = 0;
    for (const { addresses = [] } of port == null ? [] : (endpoints ?? [])) {
      for (const address of addresses) {
        if (found.length === left || ofPort === maxOfSlice) break;
        found.push({ address, port: port as number });
        ofPort += 1;
      }
    }
  }
  return found;
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
