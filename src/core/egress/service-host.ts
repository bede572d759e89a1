import { parseAddress } from './address.ts';

export interface ServiceName {
  readonly namespace: string;
  readonly name: string;
  /** The name can be no other thing: it says `svc`. */
  readonly certain: boolean;
}

/**
 * The Service that a pod of `namespace` means by a host, as its search path has it: `name`, `name.namespace`,
 * `name.namespace.svc`, the same with the cluster's domain, and those of one pod of a Service.
 */
export function serviceOfHost(
  host: string,
  namespace: string,
  clusterDomain = 'cluster.local',
): ServiceName | undefined {
  if (parseAddress(host) !== undefined) return undefined;
  const domain = `.svc.${clusterDomain}`;
  const labels = (host.endsWith(domain) ? host.slice(0, -clusterDomain.length - 1) : host).split('.');
  if (!labels.every((label) => /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(label))) return undefined;
  const certain = labels.at(-1) === 'svc' && labels.length > 2;
  const [name = '', own = namespace, ...more] = certain ? labels.slice(-3, -1) : labels;
  const depth = certain ? labels.length - 3 : more.length;
  // `pod.service.namespace.svc` names a pod of a headless Service
  return depth <= (certain ? 1 : 0) ? { namespace: own, name, certain } : undefined;
}
