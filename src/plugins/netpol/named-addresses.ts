import { parseAddress } from '../../core/egress/address.ts';
import { plainHost } from '../../core/egress/destination.ts';
import { serviceOfHost } from '../../core/egress/service-host.ts';
import type { ClusterAddresses } from '../../runtime/kube/cluster-addresses.ts';
import type { NameBook } from '../../runtime/kube/cluster-addresses-names.ts';

/** Where things are as far as that can be told without a cluster: of its Services and servers nothing is known. */
export function namedAddresses(names: NameBook): ClusterAddresses {
  const addressesOf = async (given: string, namespace: string, signal: AbortSignal) => {
    const host = plainHost(given);
    if (isAddress(host) || isService(host, namespace)) return [];
    return names.addressesOf(host, signal);
  };
  return {
    async endpointOf({ host, port }, namespace, signal) {
      const addresses = await addressesOf(host, namespace, signal);
      return { kind: 'external', host: plainHost(host), addresses, port };
    },
    async extraOf(extra, namespace, signal) {
      if (extra.host === undefined) return extra;
      return { ...extra, addresses: await addressesOf(extra.host, namespace, signal) };
    },
    apiServer: async () => [],
    dns: async () => ({ service: undefined, addresses: [] }),
  };
}

function isAddress(host: string): boolean {
  return parseAddress(host.replace(/^\[(.*)\]$/, '$1')) !== undefined;
}

/** DNS of this machine would answer for something else. */
function isService(host: string, namespace: string): boolean {
  return !host.includes('.') || serviceOfHost(host, namespace)?.certain === true;
}
