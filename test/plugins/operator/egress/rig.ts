import type { NetworkPolicy } from '../../../../src/cluster/egress/contract.ts';
import type { InjectionDefaults } from '../../../../src/cluster/injection/contract.ts';
import { createKubeClient } from '../../../../src/cluster/kube/create-client.ts';
import { createEventRecorder } from '../../../../src/cluster/kube/event-recorder.ts';
import type { NameAnswer } from '../../../../src/cluster/kube/name-book.ts';
import { readDefinitions } from '../../../../src/cluster/resources/definitions.ts';
import { byNamespace } from '../../../../src/plugins/operator/cluster-view.ts';
import type { ControllerDeps } from '../../../../src/plugins/operator/controllers/run-controller.ts';
import {
  type EgressController,
  startEgressController,
} from '../../../../src/plugins/operator/egress/start-egress-controller.ts';
import type { EgressTuning } from '../../../../src/plugins/operator/egress/term.ts';
import { startClusterView } from '../../../../src/plugins/operator/start-cluster-view.ts';
import { createMetrics } from '../../../../src/runtime/health/create-metrics.ts';
import { createHealth, type Metrics } from '../../../../src/runtime/health/health.ts';
import type { LogFields, Logger } from '../../../../src/runtime/logging/logger.ts';
import { type Injected, injectedSpec } from '../../../support/injected-pod.ts';
import type { Kubernetes } from '../../../support/kubernetes.ts';
import { type AdjustableLeadership, adjustableLeadership } from '../leadership.ts';

/** What the role of the operator has to allow for this controller and for the view that it reads. */
export const verbs: readonly [group: string, resource: string, verbs: readonly string[]][] = [
  ['networking.k8s.io', 'networkpolicies', ['list', 'watch', 'create', 'patch', 'delete']],
  ['cilium.io', 'ciliumnetworkpolicies', ['get', 'create', 'patch', 'delete']],
  ['', 'services', ['get', 'list']],
  ['discovery.k8s.io', 'endpointslices', ['list']],
  ['apps', 'daemonsets', ['get', 'list', 'watch']],
  ['events.k8s.io', 'events', ['create']],
  ...['pods', 'namespaces'].map((name): [string, string, string[]] => ['', name, ['list', 'watch']]),
  ...['serviceconfigs', 'secretmappings'].map((name): [string, string, string[]] => [
    ...(['svc.io', name, ['list', 'watch']] as [string, string, string[]]),
  ]),
  ...['deployments', 'statefulsets', 'replicasets'].map((name): [string, string, string[]] => [
    ...(['apps', name, ['list', 'watch']] as [string, string, string[]]),
  ]),
  ...['jobs', 'cronjobs'].map((name): [string, string, string[]] => ['batch', name, ['list', 'watch']]),
];

export interface Operator {
  readonly controller: EgressController;
  readonly leadership: AdjustableLeadership;
  readonly metrics: Metrics;
  readonly log: LogFields[];
  stop(): Promise<void>;
}

/** Addresses by name, changed by tests; a name that is not in it does not exist. */
export type Dns = Map<string, NameAnswer>;

/** A service account with no more than `verbs`. */
export async function operatorAccount(kube: Kubernetes): Promise<string> {
  const account = { namespace: await kube.createNamespace(), name: 'operator' };
  await kube.createServiceAccount(account);
  const rules = verbs.map(([group, resource, list]) => ({
    apiGroups: [group],
    resources: [resource],
    verbs: list,
  }));
  const role = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'egress' };
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  await kube.apply(
    { apiVersion, kind: 'ClusterRole', metadata: { name: 'egress' }, rules },
    {
      ...{ apiVersion, kind: 'ClusterRoleBinding', metadata: { name: 'egress' }, roleRef: role },
      subjects: [{ kind: 'ServiceAccount', ...account }],
    },
  );
  return kube.tokenFor(account);
}

/** Custom resources, the DNS of the cluster, and where its API server is. */
export async function furnish(kube: Kubernetes): Promise<void> {
  await kube.apply(...(await readDefinitions()));
  const dns = { name: 'kube-dns', namespace: 'kube-system' };
  const ports = ['UDP', 'TCP'].map((protocol) => ({
    name: `dns-${protocol.toLowerCase()}`,
    protocol,
    port: 53,
  }));
  await kube.apply(
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: dns,
      spec: { selector: { 'k8s-app': 'kube-dns' }, ports },
    },
    slice('default', 'kubernetes', ['192.0.2.20'], [{ name: 'https', port: 6443 }]),
  );
}

export function slice(
  namespace: string,
  service: string,
  addresses: readonly string[],
  ports: readonly object[],
) {
  return {
    ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', addressType: 'IPv4' },
    metadata: { name: `${service}-1`, namespace, labels: { 'kubernetes.io/service-name': service } },
    endpoints: [{ addresses }],
    ports,
  };
}

export async function startOperator(
  kube: Kubernetes,
  token: string,
  dns: Dns,
  tuning: Partial<EgressTuning> = {},
): Promise<Operator> {
  const stop = new AbortController();
  const { signal } = stop;
  const client = (await createKubeClient({ KUBECONFIG: kube.kubeconfig(token) })) ?? fail();
  const lines: LogFields[] = [];
  const log = recorder(lines);
  const metrics = await createMetrics({ version: '0', component: 'operator' });
  const cluster = startClusterView({ client, log, metrics, signal, health: createHealth() });
  const indexes = { pods: byNamespace(cluster.pods), serviceConfigs: byNamespace(cluster.serviceConfigs) };
  const leadership = adjustableLeadership(true);
  const events = createEventRecorder({ client, log, signal, controller: 'svc-operator', instance: 'test' });
  const defaults: InjectionDefaults = {
    ...{
      vaultAddress: 'https://vault.example.com',
      wrapperImage: 'w',
      proxyImage: 'p',
      wrapperDelivery: 'copy' as const,
      seccompDefault: true,
    },
    ...{ caConfigMap: undefined, agentSocket: undefined, development: false },
  };
  const deps: ControllerDeps = {
    ...{ client, log, metrics, signal, cluster, leadership, events, defaults, namespace: 'svc-system' },
  };
  const controller = startEgressController(deps, indexes, {
    resolver: async (host) => dns.get(host) ?? { addresses: [], failed: false },
    tuning: { refreshMs: 300, unresolvedMs: 300, graceMs: 500, freshMs: 0, ...tuning },
  });
  return {
    ...{ controller, leadership, metrics, log: lines },
    async stop() {
      stop.abort();
      await Promise.all([controller.closed, cluster.closed, events.settled()]);
      client.close();
    },
  };
}

function fail(): never {
  throw new Error('There is no client.');
}

function recorder(lines: LogFields[]): Logger {
  const note = (event: string, fields: LogFields = {}) => void lines.push({ event, ...fields });
  return { debug: () => {}, info: note, warn: note, error: note, child: () => recorder(lines) };
}

export interface PodOptions extends Injected {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
}

export function protectedPod(
  namespace: string,
  name: string,
  { annotations = {}, labels = {}, ...injected }: PodOptions = {},
) {
  return {
    ...{ apiVersion: 'v1', kind: 'Pod' },
    metadata: { namespace, name, annotations, labels: { 'svc/protected': 'true', app: 'shop', ...labels } },
    spec: injectedSpec(injected),
  };
}

export const policyPath = (namespace: string, name = `svc-egress-${namespace}`) =>
  `/apis/networking.k8s.io/v1/namespaces/${namespace}/networkpolicies/${name}`;

/** What a policy allows, each as `peer protocol port`. */
export function allowed({ spec }: NetworkPolicy): string[] {
  return spec.egress.flatMap(({ to, ports }) =>
    to.flatMap((peer) =>
      ports.map(({ protocol, port }) => {
        const where = 'ipBlock' in peer ? peer.ipBlock.cidr : JSON.stringify(peer.podSelector.matchLabels);
        return `${where} ${protocol} ${port}`;
      }),
    ),
  );
}
