import { KUBELET_CLIENT } from '../kubernetes-control-plane.ts';
import { DNS_ADDRESS } from './disk.ts';
import { API_SERVER, OUTSIDE, type OutsideName } from './outside.ts';

const RBAC = 'rbac.authorization.k8s.io';
const labels = { 'k8s-app': 'kube-dns' };

/** What installers of clusters apply first: the way of pods to the API server, its own to kubelets, and a name server. */
export function clusterObjects(): object[] {
  return [
    bind('kubelet-api', 'system:kubelet-api-admin', { kind: 'User', name: KUBELET_CLIENT, apiGroup: RBAC }),
    {
      ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', addressType: 'IPv4' },
      metadata: {
        ...{ name: 'kubernetes', namespace: 'default' },
        labels: { 'kubernetes.io/service-name': 'kubernetes' },
      },
      ports: [{ name: 'https', port: API_SERVER.port, protocol: 'TCP' }],
      endpoints: [{ addresses: [API_SERVER.address], conditions: { ready: true } }],
    },
    ...nameServer(),
  ];
}

const metadata = { name: 'coredns', namespace: 'kube-system' };

/** What the cluster's name server says, with other addresses for some names outside of it; it reads that when it starts. */
export function nameServerConfig(moved: Readonly<Partial<Record<OutsideName, string>>> = {}): object {
  const hosts = Object.entries(OUTSIDE).map(
    ([name, { address }]) => `    ${moved[name as OutsideName] ?? address} ${name}`,
  );
  const Corefile = `.:53 {
  errors
  ready
  cache 30
  hosts {
${hosts.join('\n')}
    fallthrough
  }
  kubernetes cluster.local in-addr.arpa
}
`;
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { Corefile } };
}

function nameServer(): object[] {
  const rule = (apiGroup: string, ...resources: string[]) => ({
    ...{ apiGroups: [apiGroup], resources, verbs: ['list', 'watch'] },
  });
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    {
      ...{ apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata: { name: 'coredns' } },
      rules: [rule('', 'services', 'pods', 'namespaces'), rule('discovery.k8s.io', 'endpointslices')],
    },
    bind('coredns', 'coredns', { kind: 'ServiceAccount', ...metadata }),
    nameServerConfig(),
    {
      ...{ apiVersion: 'v1', kind: 'Service', metadata: { ...metadata, name: 'kube-dns', labels } },
      spec: {
        ...{ selector: labels, clusterIP: DNS_ADDRESS },
        ports: ['UDP', 'TCP'].map((protocol) => ({ name: protocol.toLowerCase(), port: 53, protocol })),
      },
    },
    {
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata },
      spec: {
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            ...{ serviceAccountName: 'coredns', dnsPolicy: 'Default' },
            containers: [
              {
                ...{
                  name: 'coredns',
                  image: 'registry.example/coredns:1',
                  args: ['-conf', '/etc/coredns/Corefile'],
                },
                readinessProbe: { httpGet: { path: '/ready', port: 8181 }, timeoutSeconds: 10 },
                volumeMounts: [{ name: 'config', mountPath: '/etc/coredns' }],
              },
            ],
            volumes: [{ name: 'config', configMap: { name: 'coredns' } }],
          },
        },
      },
    },
  ];
}

function bind(name: string, role: string, subject: object): object {
  return {
    ...{ apiVersion: `${RBAC}/v1`, kind: 'ClusterRoleBinding', metadata: { name } },
    ...{ subjects: [subject], roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: role } },
  };
}
