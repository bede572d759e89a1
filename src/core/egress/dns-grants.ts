import { isDnsServer } from './address.ts';
import type { DnsFacts, ServiceFacts } from './contract.ts';
import { addressGrant, type Grant, usable } from './grants.ts';
import { serviceGrants } from './service-grants.ts';

const dnsPort = 53;

/** What nearly every cluster has. */
export const usualDns: ServiceFacts = {
  ...{ namespace: 'kube-system', name: 'kube-dns', selector: { 'k8s-app': 'kube-dns' } },
  ...{ clusterIPs: [], targetPort: dnsPort, port: dnsPort, endpoints: [] },
};

/** Both protocols: long answers come over TCP. */
export function dnsGrants({ service, addresses }: DnsFacts, warn: (text: string) => void): Grant[] {
  const refuse = (text: string) => warn(`DNS server ${text} is no address that it can have; it is left out`);
  const servers = usable(addresses, isDnsServer, refuse);
  const unknown = service === undefined && servers.length === 0;
  if (unknown) warn('The DNS of the cluster is not known; the usual pods of kube-system are allowed');
  return (['TCP', 'UDP'] as const).flatMap((protocol) => [
    ...(unknown || service ? serviceGrants(service ?? usualDns, protocol, warn) : []),
    ...servers.map((address) => addressGrant(address, protocol, dnsPort)),
  ]);
}
