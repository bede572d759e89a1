import type { AddressAndPort } from '../../core/egress/contract.ts';
import type { KubeClient } from './client.ts';
import { getService, listSlices } from './cluster-addresses-objects.ts';
import { addressesOf, endpointsOf } from './cluster-addresses-service.ts';

/** Where pods reach the API server: Service `default/kubernetes` and what stands behind it. @throws KubeError */
export async function apiServerAddresses(client: KubeClient, signal: AbortSignal): Promise<AddressAndPort[]> {
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
