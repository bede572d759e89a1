import { injectedSpec } from '../../support/injected-pod.ts';
import type { PolicyPod } from '../../support/network-policy.ts';
import type { ClusterObject, Objects } from './fake-cluster.ts';
import type { Target } from './judge.ts';

export const families = ['ipv4', 'ipv6', 'dual'] as const;
export const vaults = [
  ...['service', 'named port', 'headless', 'without selector'],
  ...['external', 'other port', 'address'],
] as const;
export const apiServers = [1, 3] as const;
export const dnsKinds = ['usual', 'node cache', 'other port'] as const;
export const stores = ['none', 'external', 'service'] as const;

/** What a generated cluster is like. */
export interface Choice {
  readonly family: (typeof families)[number];
  readonly vault: string;
  readonly apiServer: (typeof apiServers)[number];
  readonly dns: (typeof dnsKinds)[number];
  readonly store: (typeof stores)[number];
}

/** All combinations. */
export function* choices(): Generator<Choice> {
  for (const family of families)
    for (const vault of vaults)
      for (const apiServer of apiServers)
        for (const dns of dnsKinds)
          for (const store of stores) yield { family, vault, apiServer, dns, store };
}

/** `address protocol port` of everything that is meant to be reached. */
type Expected = ReadonlySet<string>;

export interface Cluster {
  readonly objects: Objects;
  /** Of names outside. */
  readonly names: Readonly<Record<string, readonly string[]>>;
  readonly targets: readonly Target[];
  /** Of pods without and, beside that, with the proxy. */
  readonly main: Expected;
  readonly store: Expected;
}

export const ports = [53, 80, 443, 444, 5353, 6443, 8200, 8300, 8443, 9000];

/** The addresses that something has, by the address families of the cluster. */
function addressesIn(family: Choice['family'], net: string, host: number): string[] {
  const ipv4 = `${net}.${host}`;
  const ipv6 = `2001:db8:${net.replaceAll('.', ':')}::${host.toString(16)}`;
  return { ipv4: [ipv4], ipv6: [ipv6], dual: [ipv4, ipv6] }[family];
}

const on = (addresses: readonly string[], port: number, protocols = ['TCP']) =>
  addresses.flatMap((ip) => protocols.map((protocol) => `${ip} ${protocol} ${port}`));

const both = ['TCP', 'UDP'];

export function clusterOf({ family, vault, apiServer, dns, store }: Choice): Cluster {
  const at = (net: string, host: number) => addressesIn(family, net, host);
  const pod = (
    host: number,
    namespace: string,
    labels: Record<string, string>,
    named: Record<string, number> = {},
  ) => ({ namespace, labels, named, ips: at('10.1.0', host) });
  const vault0 = pod(1, 'vault', { app: 'vault', index: '0' }, { 'https/TCP': 8200 });
  const vault1 = pod(
    2,
    'vault',
    { app: 'vault', index: '1' },
    { 'https/TCP': vault === 'named port' ? 8300 : 8200 },
  );
  const dnsPod = pod(3, 'kube-system', { 'k8s-app': 'kube-dns' });
  const storePod = pod(4, 'storage', { app: 'minio' });
  const strangers = [
    pod(5, 'vault', { app: 'other' }, { 'https/TCP': 8200 }),
    pod(6, 'other', { app: 'vault' }, { 'https/TCP': 8200 }),
    pod(7, 'apps', { 'k8s-app': 'kube-dns' }),
    pod(8, 'apps', { app: 'minio' }),
  ];
  const pods: PolicyPod[] = [vault0, vault1, dnsPod, storePod, ...strangers];

  const [vaultIPs, dnsIPs, storeIPs, kubernetesIPs] = [2, 10, 4, 1].map((host) => at('10.96.0', host)) as [
    string[],
    string[],
    string[],
    string[],
  ];
  const elsewhere = [1, 2, 3].flatMap((host) => at('203.0.113', host));
  const storeElsewhere = [1, 2].flatMap((host) => at('198.51.100', host));
  const behind = at('203.0.113', 50);
  const servers = Array.from({ length: apiServer }, (_, index) => at('192.0.2', index + 1)).flat();
  const dnsPort = dns === 'other port' ? 5353 : 53;

  const vaultPods = [...vault0.ips, ...vault1.ips];
  const literal = elsewhere[0] ?? '';
  const urls: Record<string, string> = {
    service: 'https://vault.vault.svc',
    'named port': 'https://vault.vault.svc.cluster.local',
    headless: 'https://vault.vault.svc:8200',
    'without selector': 'https://vault.vault',
    external: 'https://vault.example.eu',
    'other port': 'https://vault.example.eu:8200',
    address: `https://${literal.includes(':') ? `[${literal}]` : literal}:8443`,
  };
  const reached: Record<string, string[]> = {
    service: [...on(vaultIPs, 443), ...on(vaultPods, 8200)],
    'named port': [...on(vaultIPs, 443), ...on(vault0.ips, 8200), ...on(vault1.ips, 8300)],
    headless: on(vaultPods, 8200),
    'without selector': [...on(vaultIPs, 443), ...on(behind, 8200)],
    external: on(elsewhere, 443),
    'other port': on(elsewhere, 8200),
    address: on([literal], 8443),
  };
  const storeUrl = { none: undefined, external: 'https://s3.example.eu', service: 'http://minio.storage:80' }[
    store
  ];
  const credentials = { AWS_ACCESS_KEY_ID: 'shop', AWS_SECRET_ACCESS_KEY: 'of-a-test' };
  const proxy = storeUrl === undefined ? undefined : { SVC_PROXY_UPSTREAM: storeUrl, ...credentials };
  const slices = [
    slice('default', 'kubernetes', servers, 'https', 6443),
    ...(vault === 'named port'
      ? [
          slice('vault', 'vault', vault0.ips, 'https', 8200, '0'),
          slice('vault', 'vault', vault1.ips, 'https', 8300, '1'),
        ]
      : []),
    ...(vault === 'without selector' ? [slice('vault', 'vault', behind, 'https', 8200)] : []),
  ];
  return {
    names: { 'vault.example.eu': elsewhere, 's3.example.eu': storeElsewhere },
    objects: {
      '/api/v1/pods': [
        {
          metadata: {
            name: 'shop',
            namespace: 'apps',
            labels: wrapped.labels,
          },
          spec: injectedSpec({ vault: urls[vault], proxy }),
        },
      ],
      '/api/v1/services': [
        service('default', 'kubernetes', kubernetesIPs, undefined, [
          { name: 'https', port: 443, targetPort: 6443 },
        ]),
        service('kube-system', 'kube-dns', dnsIPs, { 'k8s-app': 'kube-dns' }, [
          { name: 'dns', protocol: 'UDP', port: 53, targetPort: dnsPort },
          { name: 'dns-tcp', protocol: 'TCP', port: 53, targetPort: dnsPort },
        ]),
        service(
          'vault',
          'vault',
          vault === 'headless' ? [] : vaultIPs,
          vault === 'without selector' ? undefined : { app: 'vault' },
          [{ name: 'https', port: 443, targetPort: vault === 'named port' ? 'https' : 8200 }],
        ),
        service('storage', 'minio', storeIPs, { app: 'minio' }, [{ name: 's3', port: 80, targetPort: 9000 }]),
      ],
      '/apis/discovery.k8s.io/v1/endpointslices': slices.flat(),
      '/apis/apps/v1/daemonsets':
        dns === 'node cache' ? [{ metadata: { name: 'node-local-dns', namespace: 'kube-system' } }] : [],
    },
    targets: [
      ...pods.flatMap((to) => to.ips.map((ip) => ({ ip, to }))),
      ...[vaultIPs, dnsIPs, storeIPs, kubernetesIPs, elsewhere, storeElsewhere, behind, servers]
        .flat()
        .map(nobody),
      ...[at('203.0.113', 4), at('192.0.2', 9), at('10.96.0', 99)].flat().map(nobody),
      ...['169.254.20.10', '169.254.169.254'].map(nobody),
    ],
    main: new Set([
      ...(reached[vault] ?? []),
      ...on(kubernetesIPs, 443),
      ...on(servers, 6443),
      ...on(dnsIPs, 53, both),
      ...on(dnsPod.ips, dnsPort, both),
      ...(dns === 'node cache' ? on(['169.254.20.10'], 53, both) : []),
    ]),
    store: new Set(
      {
        none: [],
        external: on(storeElsewhere, 443),
        service: [...on(storeIPs, 80), ...on(storePod.ips, 9000)],
      }[store],
    ),
  };
}

const nobody = (ip: string): Target => ({ ip, to: undefined });

const caller = (labels: Record<string, string>, namespace = 'apps'): PolicyPod => ({
  ...{ namespace, labels, ips: [], named: {} },
});
export const wrapped = caller({ app: 'shop', 'svc/protected': 'true' });
export const withProxy = caller({ app: 'shop', 'svc/protected': 'true', 'svc/proxy': 'true' });
/** The policies are none of theirs. */
export const free = [caller({ app: 'shop' }), caller(wrapped.labels, 'other')];

function service(
  namespace: string,
  name: string,
  clusterIPs: readonly string[],
  selector: Record<string, string> | undefined,
  list: readonly object[],
): ClusterObject {
  const ips = clusterIPs.length === 0 ? ['None'] : clusterIPs;
  return { metadata: { name, namespace }, spec: { clusterIPs: ips, selector, ports: list } };
}

/** One for each address family, as Kubernetes has it. */
function slice(
  namespace: string,
  of: string,
  addresses: readonly string[],
  name: string,
  port: number,
  suffix = '',
): ClusterObject[] {
  return ['IPv4', 'IPv6'].map((addressType) => ({
    metadata: {
      ...{ name: `${of}-${addressType.toLowerCase()}${suffix}`, namespace },
      labels: { 'kubernetes.io/service-name': of },
    },
    addressType,
    endpoints: addresses
      .filter((ip) => ip.includes(':') === (addressType === 'IPv6'))
      .map((ip) => ({ addresses: [ip] })),
    ports: [{ name, port }],
  }));
}
