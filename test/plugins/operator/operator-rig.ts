import { randomBytes } from 'node:crypto';
import type { InjectionDefaults } from '../../../src/cluster/injection/contract.ts';
import type { KubeClient, KubeRequest } from '../../../src/cluster/kube/client.ts';
import { createKubeClient } from '../../../src/cluster/kube/create-client.ts';
import { readDefinitions } from '../../../src/cluster/resources/definitions.ts';
import { startControllers } from '../../../src/plugins/operator/controllers/start-controllers.ts';
import { startClusterView } from '../../../src/plugins/operator/start-cluster-view.ts';
import { createMetrics } from '../../../src/runtime/health/create-metrics.ts';
import { createHealth } from '../../../src/runtime/health/health.ts';
import type { LogFields, Logger } from '../../../src/runtime/logging/logger.ts';
import { wrapped } from '../../support/injected-pod.ts';
import type { Kubernetes } from '../../support/kubernetes.ts';
import { adjustableLeadership } from './leadership.ts';

/** Everything that the view and the controllers need, and nothing else. */
const rules = [
  { apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] },
  { apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'list', 'watch', 'patch'] },
  {
    ...{ apiGroups: [''], resources: ['configmaps'], resourceNames: ['svc-ca'] },
    verbs: ['list', 'watch', 'create', 'patch', 'delete'],
  },
  {
    ...{ apiGroups: ['apps'], verbs: ['list', 'watch'] },
    resources: ['deployments', 'statefulsets', 'daemonsets', 'replicasets'],
  },
  { apiGroups: ['batch'], resources: ['jobs', 'cronjobs'], verbs: ['list', 'watch'] },
  { apiGroups: ['svc.io'], resources: ['serviceconfigs', 'secretmappings'], verbs: ['list', 'watch'] },
  {
    ...{ apiGroups: ['svc.io'], verbs: ['patch'] },
    resources: ['serviceconfigs/status', 'secretmappings/status'],
  },
  { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create'] },
];

const defaults: InjectionDefaults = {
  ...{ vaultAddress: 'https://vault.example:8200', wrapperImage: 'wrapper:1', proxyImage: 'proxy:1' },
  ...{
    wrapperDelivery: 'copy',
    seccompDefault: true,
    caConfigMap: undefined,
    agentSocket: undefined,
    development: false,
  },
};

/** Installs the custom resources and makes a service account that may do what the operator has to. @returns its token */
export async function prepareCluster(kube: Kubernetes): Promise<string> {
  await kube.apply(...(await readDefinitions()));
  const namespace = await kube.createNamespace();
  const account = { namespace, name: 'svc-operator' };
  await kube.createServiceAccount(account);
  const rbac = 'rbac.authorization.k8s.io';
  await kube.apply(
    { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata: { name: 'svc-operator' }, rules },
    {
      ...{ apiVersion: `${rbac}/v1`, kind: 'ClusterRoleBinding', metadata: { name: 'svc-operator' } },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'svc-operator' },
      subjects: [{ kind: 'ServiceAccount', ...account }],
    },
  );
  return kube.tokenFor(account);
}

export type Replica = Awaited<ReturnType<typeof startReplica>>;

/** View and controllers of one replica, with what it writes and logs. */
export async function startReplica(
  kube: Kubernetes,
  token: string,
  options: {
    readonly leading?: boolean;
    readonly caFile?: string;
    readonly storeCaFile?: string;
    readonly staleMs?: number;
  } = {},
) {
  const stop = new AbortController();
  const { signal } = stop;
  const connected = await createKubeClient({ KUBECONFIG: kube.kubeconfig(token) });
  if (connected === undefined) throw new Error('no API server');
  const writes: KubeRequest[] = [];
  const client = recordWrites(connected, writes);
  const logged: LogFields[] = [];
  const log = recorder(logged);
  const health = createHealth();
  const metrics = await createMetrics({ version: '0', component: 'operator' });
  const timing = { stableMs: 100, initialBackoffMs: 50, maxBackoffMs: 500 };
  const cluster = startClusterView({
    ...{ client, log, metrics, health, signal, timing },
    ...(options.staleMs === undefined ? {} : { staleMs: options.staleMs }),
  });
  const leadership = adjustableLeadership(options.leading ?? true);
  const controllers = await startControllers({
    ...{ client, cluster, defaults, namespace: 'svc-system', log, signal, leadership, metrics, health },
    ...{
      identity: `replica-${randomBytes(3).toString('hex')}`,
      authorityPaths: { secretsServer: options.caFile, objectStore: options.storeCaFile },
    },
  });
  await cluster.whenSynced();
  return {
    ...{ cluster, leadership, metrics, health, writes, logged },
    hasForeignAuthorities: controllers.hasForeignAuthorities,
    async stop() {
      stop.abort();
      await Promise.all([cluster.closed, controllers.closed]);
      connected.close();
    },
  };
}

/** The same client, which notes what it writes. */
export function recordWrites(client: KubeClient, writes: KubeRequest[]): KubeClient {
  const note = (request: KubeRequest): KubeRequest => {
    if (request.method !== undefined && request.method !== 'GET') writes.push(request);
    return request;
  };
  return {
    ...client,
    request: (request) => client.request(note(request)),
    read: (request, use) => client.read(note(request), use),
  };
}

function recorder(lines: LogFields[]): Logger {
  const note = (event: string, fields: LogFields = {}) => void lines.push({ event, ...fields });
  return { debug: note, info: note, warn: note, error: note, child: () => recorder(lines) };
}

/** A pod as the webhook leaves it, where it is a protected one. */
export function podObject(name: string, options: PodOptions = {}) {
  const { labels = {}, annotations = {}, isProtected = false, ...spec } = options;
  const container = { name: 'app', image: 'app:1', command: ['/bin/app', '--password=hunter2'] };
  return {
    ...{ apiVersion: 'v1', kind: 'Pod' },
    metadata: {
      ...{ name, annotations },
      labels: { ...labels, ...(isProtected ? { 'svc/protected': 'true' } : {}) },
    },
    spec: { ...(isProtected ? wrapped(container) : { containers: [container] }), ...spec },
  };
}

interface PodOptions {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly isProtected?: boolean;
  readonly containers?: readonly object[];
}
