import type { DnsFacts, ServiceFacts } from '../../core/egress/contract.ts';
import { usualDns } from '../../core/egress/dns-grants.ts';
import type { KubeClient } from './client.ts';
import { getService, listServices, type Service } from './cluster-addresses-objects.ts';
import { serviceFacts } from './cluster-addresses-service.ts';
import { unless } from './unless.ts';

const nodeCache = { path: '/apis/apps/v1/namespaces/kube-system/daemonsets/node-local-dns' };
/** Source: https://kubernetes.io/docs/tasks/administer-cluster/nodelocaldns/ */
const nodeCacheAddress = '169.254.20.10';
const dnsPort = 53;

/** Where pods ask for names. @throws KubeError */
export async function dnsFacts(client: KubeClient, signal: AbortSignal): Promise<DnsFacts> {
  const [found, hasCache] = await Promise.all([dnsService(client, signal), hasNodeCache(client, signal)]);
  if (!hasCache) return { service: found, addresses: [] };
  // the cache is beside the service, not in its place
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

/** The usual one, those of the usual label under another name, and OpenShift's. */
const candidates: readonly Find[] = [
  named('kube-system', 'kube-dns'),
  (client, signal) => listServices(client, 'kube-system', 'k8s-app=kube-dns', signal),
  named('openshift-dns', 'dns-default'),
];

/** One that may not be seen is taken to be absent. */
async function hasNodeCache(client: KubeClient, signal: AbortSignal): Promise<boolean> {
  const request = client.request({ ...nodeCache, signal });
  return (await unless(request, 'KUBE_NOT_FOUND', 'KUBE_DENIED')) !== undefined;
}
