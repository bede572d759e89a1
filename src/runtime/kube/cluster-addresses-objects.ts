import type { KubeClient } from './client.ts';
import { listAll } from './list.ts';
import type { KubeObject } from './objects.ts';
import { unless } from './unless.ts';

/** Source: https://kubernetes.io/docs/reference/kubernetes-api/service-resources/service-v1/ */
export interface Service extends KubeObject {
  readonly spec?: {
    readonly type?: string;
    readonly externalName?: string;
    readonly clusterIPs?: readonly string[];
    readonly selector?: Readonly<Record<string, string>>;
    readonly ports?: readonly ServicePort[];
  };
}

export interface ServicePort {
  readonly name?: string;
  readonly protocol?: string;
  readonly port: number;
  /** Missing: the same. */
  readonly targetPort?: number | string;
}

/** Source: https://kubernetes.io/docs/reference/kubernetes-api/service-resources/endpoint-slice-v1/ */
export interface EndpointSlice extends KubeObject {
  readonly addressType: 'IPv4' | 'IPv6' | 'FQDN';
  readonly endpoints?: readonly { readonly addresses?: readonly string[] }[] | null;
  readonly ports?:
    | readonly { readonly name?: string; readonly protocol?: string; readonly port?: number | null }[]
    | null;
}

/** @returns undefined where there is none @throws KubeError */
export function getService(
  client: KubeClient,
  namespace: string,
  name: string,
  signal: AbortSignal,
): Promise<Service | undefined> {
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/services/${encodeURIComponent(name)}`;
  return unless(client.request<Service>({ path, signal }), 'KUBE_NOT_FOUND');
}

/** Sorted by name. @throws KubeError */
export async function listServices(
  client: KubeClient,
  namespace: string,
  labelSelector: string,
  signal: AbortSignal,
): Promise<Service[]> {
  const found: Service[] = [];
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/services`;
  await listAll<Service>(client, { path, labelSelector }, (service) => found.push(service), signal);
  return found.sort((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1));
}

/** Those of one Service. @throws KubeError */
export async function listSlices(
  client: KubeClient,
  namespace: string,
  service: string,
  signal: AbortSignal,
): Promise<EndpointSlice[]> {
  const found: EndpointSlice[] = [];
  const path = `/apis/discovery.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/endpointslices`;
  const labelSelector = `kubernetes.io/service-name=${service}`;
  await listAll<EndpointSlice>(client, { path, labelSelector }, (slice) => found.push(slice), signal);
  return found;
}
