import type { EgressDestination } from '../../core/custom-resources/service-config.ts';
import type { AddressAndPort, DnsFacts, EgressFacts, Endpoint } from '../../core/egress/contract.ts';
import { type Destination, plainHost } from '../../core/egress/destination.ts';
import type { Protocol } from '../../core/egress/grants.ts';
import { serviceOfHost } from '../../core/egress/service-host.ts';
import type { KubeClient } from './client.ts';
import { apiServerAddresses } from './cluster-addresses-api-server.ts';
import { dnsFacts } from './cluster-addresses-dns.ts';
import type { NameBook } from './cluster-addresses-names.ts';
import { getService } from './cluster-addresses-objects.ts';
import { serviceFacts } from './cluster-addresses-service.ts';
import { createRecent } from './recent.ts';

export interface ClusterAddressesOptions {
  readonly client: KubeClient;
  /** Of names outside of the cluster. */
  readonly names: NameBook;
  /** Milliseconds from any moment on that never go back. */
  readonly now: () => number;
  /** What the API server said is not asked for again for so long. Default: 20 s. */
  readonly freshMs?: number;
  readonly clusterDomain?: string;
}

/** Where what pods connect to is, as egress policies need it. All of it throws KubeError when the API server fails. */
export interface ClusterAddresses {
  /** @param namespace of the pods that connect, since a host without dots is a Service there */
  endpointOf(to: Destination, namespace: string, signal: AbortSignal, protocol?: Protocol): Promise<Endpoint>;
  extraOf(
    extra: EgressDestination,
    namespace: string,
    signal: AbortSignal,
  ): Promise<EgressFacts['extra'][number]>;
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
    apiServer: (signal) => servers.get('', () => apiServerAddresses(client, signal)),
    dns: (signal) => dns.get('', () => dnsFacts(client, signal)),
  };
}

/** An endpoint, or a name that DNS has to be asked about. */
type Target = Endpoint | { readonly kind: 'name'; readonly name: string };

async function targetOf(
  { host, port }: Destination,
  namespace: string,
  protocol: Protocol,
  { client, clusterDomain }: ClusterAddressesOptions,
  signal: AbortSignal,
): Promise<Target> {
  const name = serviceOfHost(host, namespace, clusterDomain);
  const service = name && (await getService(client, name.namespace, name.name, signal));
  const nowhere: Endpoint = { kind: 'external', host, addresses: [], port };
  if (service === undefined) return isName(host) && !name?.certain ? { kind: 'name', name: host } : nowhere;
  const { type, externalName = '' } = service.spec ?? {};
  if (type === 'ExternalName')
    return isName(externalName) ? { kind: 'name', name: plainHost(externalName) } : nowhere;
  const facts = await serviceFacts(client, service, port, protocol, signal);
  return facts === undefined ? nowhere : { kind: 'service', host, service: facts, port };
}

/** Whether it is worth asking DNS: addresses stand for themselves. */
function isName(host: string): boolean {
  return /[a-z]/i.test(host) && !host.startsWith('[') && !host.includes(':');
}
