import type { AddressAndPort, ServiceFacts } from '../../core/egress/contract.ts';
import type { Protocol } from '../../core/egress/grants.ts';
import type { KubeClient } from './client.ts';
import {
  type EndpointSlice,
  listSlices,
  type Service,
  type ServicePort,
} from './cluster-addresses-objects.ts';

/**
 * What an egress policy has to know of a Service on one of its ports.
 * @returns undefined where it has no such port @throws KubeError
 */
export async function serviceFacts(
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

/** None where it is headless. */
export function addressesOf({ spec }: Service): string[] {
  return (spec?.clusterIPs ?? []).filter((address) => address !== 'None' && address !== '');
}

/** Nothing maps the ports of a headless Service: what its pods listen on can be asked for, declared or not. */
function portOf(
  { spec }: Service,
  port: number,
  protocol: Protocol,
  headless: boolean,
): ServicePort | undefined {
  const declared = spec?.ports?.find((each) => each.port === port && (each.protocol ?? 'TCP') === protocol);
  return declared ?? (headless ? { port } : undefined);
}

/** Addresses behind it; a slice names its ports as the Service does. */
export function endpointsOf(
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

/** A name that means the same number everywhere is that number, which every network plug-in understands. */
function asNumber(port: number | string, endpoints: readonly AddressAndPort[]): number | string {
  const numbers = new Set(endpoints.map((each) => each.port));
  const [only] = numbers;
  return typeof port === 'string' && numbers.size === 1 && only !== undefined ? only : port;
}
