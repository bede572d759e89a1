import { injectedSpec } from '../../../support/injected-pod.ts';
import { caBundle, now } from './authority.ts';
import { chartObjects } from './chart-objects.ts';
import { egressOfShop } from './egress-of-shop.ts';
import type { FakeCluster, FakeObject } from './fake-cluster.ts';

export const namespace = 'shop';
export const node = 'node-1';

const meta = (name: string, place?: string, more: object = {}) => ({
  metadata: { name, ...(place && { namespace: place }), ...more },
});
const core = (kind: string, name: string, place?: string, rest: object = {}): FakeObject => ({
  ...{ apiVersion: 'v1', kind, ...meta(name, place) },
  ...rest,
});
const custom = (kind: string, name: string, types: readonly string[], spec: object): FakeObject => ({
  ...{ apiVersion: 'svc.io/v1alpha1', kind, ...meta(name, namespace), spec },
  status: {
    observedGeneration: 1,
    conditions: types.map((type) => ({ type, status: 'True', reason: 'Fine', message: 'It is.' })),
  },
});

const running = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };

/** A pod of the chart that runs. */
function podOf(name: string, app: string, ports: Readonly<Record<string, number>>): FakeObject {
  const containers = [
    { name: app, ports: Object.entries(ports).map(([of, containerPort]) => ({ name: of, containerPort })) },
  ];
  const labels = { 'app.kubernetes.io/name': app };
  return core('Pod', name, 'svc-system', {
    ...meta(name, 'svc-system', { labels }),
    ...{ spec: { nodeName: node, containers }, status: running },
  });
}

const authorities = (name: string, configMap: string) => ({
  ...{ name, configMap: { name: configMap, items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
});

/** A pod as the webhook leaves it, with the proxy. */
function protectedPod(): FakeObject {
  const proxy = {
    SVC_PROXY_UPSTREAM: 'https://192.0.2.8',
    SVC_PROXY_HEALTH: ':8090',
    AWS_ACCESS_KEY_ID: 'x',
  };
  const spec = injectedSpec({ vault: 'https://192.0.2.7:8200', proxy });
  const [main] = spec.containers;
  const [sidecar] = 'initContainers' in spec ? spec.initContainers : [];
  const token = { name: 'svc-wrapper-token', mountPath: '/var/run/secrets/svc', readOnly: true };
  const tokens = { projected: { sources: [{ serviceAccountToken: { path: 'token', audience: 'vault' } }] } };
  const copier = { name: 'svc-wrapper', image: 'svc/wrapper:0.1.0' };
  const env = [
    ...(main?.env ?? []),
    { name: 'SVC_ENV_MAP_ONLY', value: 'true' },
    { name: 'HEALTH_ADDR', value: ':8081' },
  ];
  return core('Pod', 'web', namespace, {
    ...meta('web', namespace, {
      labels: { app: 'web', 'svc/protected': 'true', 'svc/proxy': 'true' },
      annotations: { 'svc/inject': 'true' },
    }),
    spec: {
      ...{ ...spec, nodeName: node },
      volumes: [
        ...spec.volumes,
        { name: token.name, ...tokens },
        authorities('svc-ca', 'svc-ca'),
        authorities('svc-store-ca', 'store-ca'),
      ],
      containers: [{ ...main, env, volumeMounts: [...(main?.volumeMounts ?? []), token] }],
      initContainers: [copier, { ...sidecar, volumeMounts: [token] }],
    },
    status: running,
  });
}

/** What runs is told by the kubelet, what is established by the API server. */
const statuses: Readonly<Record<string, object>> = {
  Deployment: { readyReplicas: 1, updatedReplicas: 1 },
  DaemonSet: { desiredNumberScheduled: 1, numberReady: 1, updatedNumberScheduled: 1 },
  CustomResourceDefinition: { conditions: [{ type: 'Established', status: 'True' }] },
};

function installed(): readonly FakeObject[] {
  return chartObjects.map((object) => {
    const status = statuses[object.kind];
    if (object.kind === 'MutatingWebhookConfiguration') return withBundle(object);
    return status === undefined ? object : { ...object, status };
  });
}

function withBundle(object: FakeObject): FakeObject {
  const webhooks = object['webhooks'].map((one: { clientConfig: object }) => ({
    ...one,
    clientConfig: { ...one.clientConfig, caBundle },
  }));
  return { ...object, webhooks };
}

const lease: FakeObject = {
  ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', ...meta('svc-operator', 'svc-system') },
  spec: {
    holderIdentity: 'svc-operator-0_1',
    leaseDurationSeconds: 15,
    renewTime: new Date(now).toISOString(),
  },
};

const named = (name: string, labels: object = {}) =>
  core('Namespace', name, undefined, {
    ...meta(name, undefined, { labels: { 'kubernetes.io/metadata.name': name, ...labels } }),
  });

const operatorPage = [
  `svc_certificate_not_after_seconds ${now / 1_000 + 20 * 86_400}`,
  'svc_image_lookups_total{outcome="found"} 3',
  'svc_nodes{tier="lsm",enforcing="true"} 1',
  'svc_nodes{tier="none",enforcing="false"} 0',
].join('\n');

export const agentPage = [
  'svc_agent_tier{tier="lsm"} 1',
  'svc_agent_tier{tier="none"} 0',
  'svc_agent_enforcing 1',
  'svc_agent_lost_total{what="hits"} 0',
  'svc_agent_operator_connected 1',
  'svc_agent_protected_pods 1',
].join('\n');

/** In which every check passes, for the reasons that a real one gives. */
export function healthyCluster(): FakeCluster {
  const nodeInfo = { kernelVersion: '6.1.0-28-amd64', operatingSystem: 'linux', architecture: 'amd64' };
  return {
    objects: [
      ...installed().filter(({ kind }) => kind !== 'Namespace' && kind !== 'Service'),
      ...[
        named('default'),
        named('kube-system'),
        named('svc-system'),
        named(namespace, { 'svc/protected': 'true' }),
      ],
      ...[lease, core('Node', node, undefined, { status: { nodeInfo } })],
      podOf('svc-operator-0', 'svc-operator', { metrics: 8080 }),
      podOf('svc-ebpf-1', 'svc-ebpf', { health: 9090 }),
      protectedPod(),
      ...['svc-ca', 'store-ca'].map((name) =>
        core('ConfigMap', name, namespace, { data: { 'ca.crt': 'PEM' } }),
      ),
      custom('ServiceConfig', 'web', ['Valid', 'Ready'], { selector: { matchLabels: { app: 'web' } } }),
      custom('SecretMapping', 'db', ['Valid'], { secrets: [] }),
      ...egressOfShop,
      {
        ...{ apiVersion: 'apps/v1', kind: 'DaemonSet', ...meta('cilium', 'kube-system'), spec: {} },
        status: { numberReady: 1 },
      },
      core('Service', 'svc-operator-metrics', 'svc-system', { spec: { clusterIP: '10.96.0.9' } }),
      core('Service', 'kubernetes', 'default', {
        spec: { clusterIPs: ['10.96.0.1'], ports: [{ port: 443 }] },
      }),
    ],
    pages: {
      'svc-system/svc-operator-0:8080/metrics': operatorPage,
      'svc-system/svc-ebpf-1:9090/metrics': agentPage,
      [`${namespace}/web:8081/healthz`]: '{"status":"ok"}',
      [`${namespace}/web:8090/readyz`]: '{"status":"ready"}',
      [`${namespace}/web:8090/metrics`]: 'svc_proxy_requests_total{operation="PutObject",status="200"} 4',
    },
    admit: (pod) => ({
      ...pod,
      metadata: {
        ...pod.metadata,
        labels: { ...(pod.metadata['labels'] as object), 'svc/protected': 'true' },
      },
      spec: injectedSpec(),
    }),
  };
}
