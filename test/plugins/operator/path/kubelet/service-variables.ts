import type { Pod } from '../../../../../src/cluster/kube/pod.ts';
import type { Kubernetes } from '../../../../support/kubernetes.ts';

interface Service {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly clusterIP?: string;
    readonly ports: readonly { readonly name?: string; readonly port: number; readonly protocol: string }[];
  };
}

/**
 * What each container gets to know of the Services of its namespace, and of the API server.
 * Source: kubernetes/pkg/kubelet/envvars/envvars.go
 */
export async function serviceVariables(
  kube: Kubernetes,
  { metadata }: Pod,
): Promise<readonly (readonly [string, string])[]> {
  const { items } = await kube.must('GET', `/api/v1/namespaces/${metadata.namespace}/services`);
  const api: Service = await kube.must('GET', '/api/v1/namespaces/default/services/kubernetes');
  return [api, ...(items as Service[])].flatMap(variablesOf);
}

function variablesOf({ metadata, spec }: Service): (readonly [string, string])[] {
  const { clusterIP, ports } = spec;
  const [first] = ports;
  if (!clusterIP || clusterIP === 'None' || first === undefined) return [];
  const prefix = metadata.name.toUpperCase().replaceAll('-', '_');
  const url = `${first.protocol.toLowerCase()}://${clusterIP}:${first.port}`;
  return [
    [`${prefix}_SERVICE_HOST`, clusterIP],
    [`${prefix}_SERVICE_PORT`, String(first.port)],
    ...ports.flatMap(({ name, port }) =>
      name ? [[`${prefix}_SERVICE_PORT_${name.toUpperCase()}`, String(port)] as const] : [],
    ),
    [`${prefix}_PORT`, url],
    ...ports.flatMap(({ port, protocol }) => linkVariables(prefix, clusterIP, port, protocol)),
  ];
}

function linkVariables(prefix: string, host: string, port: number, protocol: string) {
  const link = `${prefix}_PORT_${port}_${protocol}`;
  const lower = protocol.toLowerCase();
  return [
    [link, `${lower}://${host}:${port}`],
    [`${link}_PROTO`, lower],
    [`${link}_PORT`, String(port)],
    [`${link}_ADDR`, host],
  ] as const;
}
