import type { FakeObject } from './fake-cluster.ts';

const labels = {
  'app.kubernetes.io/component': 'egress',
  'app.kubernetes.io/managed-by': 'svc-operator',
  'app.kubernetes.io/name': 'svc',
};

const policy = (name: string, label: string, egress: readonly object[]): FakeObject => ({
  ...{ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy' },
  metadata: { name, namespace: 'shop', labels },
  spec: { podSelector: { matchLabels: { [label]: 'true' } }, policyTypes: ['Egress'], egress },
});

const to = (cidr: string) => [{ ipBlock: { cidr } }];
const tcp = (port: number) => [{ protocol: 'TCP', port }];

const dns = {
  to: [
    {
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } },
      podSelector: { matchLabels: { 'k8s-app': 'kube-dns' } },
    },
  ],
  ports: [
    { protocol: 'TCP', port: 53 },
    { protocol: 'UDP', port: 53 },
  ],
};

/** What the namespace of the healthy cluster needs: secrets server, API server, DNS; and the store for the proxy. */
export const egressOfShop: readonly FakeObject[] = [
  policy('svc-egress-shop', 'svc/protected', [
    dns,
    { to: to('10.96.0.1/32'), ports: tcp(443) },
    { to: to('192.0.2.7/32'), ports: tcp(8200) },
  ]),
  policy('svc-egress-shop-store', 'svc/proxy', [{ to: to('192.0.2.8/32'), ports: tcp(443) }]),
];
