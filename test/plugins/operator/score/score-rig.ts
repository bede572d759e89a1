import type { InjectionDefaults, InjectionPlan } from '../../../../src/cluster/injection/contract.ts';
import { mutatePod } from '../../../../src/cluster/injection/mutate/mutate-pod.ts';
import type { KubeRequest } from '../../../../src/cluster/kube/client.ts';
import { createKubeClient } from '../../../../src/cluster/kube/create-client.ts';
import type { Pod } from '../../../../src/cluster/kube/pod.ts';
import { byNamespace } from '../../../../src/plugins/operator/cluster-view.ts';
import {
  type ScoreTiming,
  startScoreController,
} from '../../../../src/plugins/operator/controllers/protection-score.ts';
import { startClusterView } from '../../../../src/plugins/operator/start-cluster-view.ts';
import { createMetrics } from '../../../../src/runtime/health/create-metrics.ts';
import { createHealth } from '../../../../src/runtime/health/health.ts';
import type { Kubernetes } from '../../../support/kubernetes.ts';
import { recordingLog } from '../../agent/access-events/recording-log.ts';
import { adjustableLeadership } from '../leadership.ts';
import { prepareCluster, recordWrites } from '../operator-rig.ts';
import { fakeEgress, fakeNodes } from './fake-parts.ts';

const rbac = 'rbac.authorization.k8s.io';

/** What keeping reports takes beside what the view of the cluster does. */
const rules = [
  { apiGroups: ['svc.io'], resources: ['protectionreports'], verbs: ['get', 'create', 'patch', 'delete'] },
  { apiGroups: ['svc.io'], resources: ['protectionreports/status'], verbs: ['patch'] },
];

/** @returns a token that may do this, and no more */
export async function prepareForReports(kube: Kubernetes): Promise<string> {
  const token = await prepareCluster(kube);
  const metadata = { name: 'svc-operator-reports' };
  await kube.apply(
    { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata, rules },
    {
      ...{ apiVersion: `${rbac}/v1`, kind: 'ClusterRoleBinding', metadata },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: metadata.name },
      subjects: [{ kind: 'Group', apiGroup: rbac, name: 'system:serviceaccounts' }],
    },
  );
  return token;
}

export type ScoreReplica = Awaited<ReturnType<typeof startScoreReplica>>;

const quick: ScoreTiming = { settle: 50, nodes: 50, resync: 300, unknown: 0, trust: 600 };

/** The view and the controller of one replica, with what it writes. */
export async function startScoreReplica(
  kube: Kubernetes,
  token: string,
  leading = true,
  timing: Partial<ScoreTiming> = {},
) {
  const stop = new AbortController();
  const { signal } = stop;
  const connected = await createKubeClient({ KUBECONFIG: kube.kubeconfig(token) });
  if (connected === undefined) throw new Error('no API server');
  const writes: KubeRequest[] = [];
  const client = recordWrites(connected, writes);
  const { log, lines } = recordingLog();
  const health = createHealth();
  const metrics = await createMetrics({ version: '0', component: 'operator' });
  const watching = { stableMs: 100, initialBackoffMs: 50, maxBackoffMs: 500 };
  const cluster = startClusterView({ client, log, metrics, health, signal, timing: watching });
  const leadership = adjustableLeadership(leading);
  const nodes = fakeNodes();
  const egress = fakeEgress();
  const controller = startScoreController({
    ...{
      client,
      cluster,
      defaults,
      namespace: 'svc-system',
      log,
      signal,
      leadership,
      metrics,
      nodes,
      egress,
    },
    indexes: { pods: byNamespace(cluster.pods), serviceConfigs: byNamespace(cluster.serviceConfigs) },
    timing: { ...quick, ...timing },
  });
  return {
    ...{ leadership, nodes, egress, writes, lines },
    /** Lines of the metric that name a namespace. */
    async shown(namespace: string): Promise<readonly string[]> {
      const { body } = await metrics.expose();
      const prefix = `svc_workload_protection_score{namespace="${namespace}",`;
      return body
        .split('\n')
        .filter((line) => line.startsWith(prefix))
        .map((line) => line.slice(prefix.length))
        .sort();
    },
    async reconciled(): Promise<number> {
      const { body } = await metrics.expose();
      const line =
        /^controller_runtime_reconcile_total\{controller="protection-report",result="success"\} (\d+)$/m;
      return Number(line.exec(body)?.[1] ?? 0);
    },
    async stop() {
      stop.abort();
      await Promise.all([cluster.closed, controller.closed]);
      connected.close();
    },
  };
}

const defaults: InjectionDefaults = {
  ...{ vaultAddress: 'https://vault.example:8200', wrapperImage: 'wrapper:1', proxyImage: 'proxy:1' },
  ...{
    wrapperDelivery: 'copy',
    seccompDefault: true,
    caConfigMap: 'svc-ca',
    agentSocket: undefined,
    development: false,
  },
};

const plan: InjectionPlan = {
  vault: { address: 'https://vault.example:8200', role: 'shop', authMount: undefined, skipVerify: false },
  secrets: [{ path: 'kv/shop', mappings: [] }],
  ...{ rotation: undefined, renewalInterval: undefined, delivery: 'fd', containers: undefined },
  ...{ command: undefined, proxy: undefined, serviceConfig: undefined },
};

/** As the webhook leaves it. */
export function mutated(pod: Pod): Pod {
  const surroundings = { podSecurity: 'restricted', nativeSidecars: true, images: new Map() } as const;
  const mutation = mutatePod(pod, plan, defaults, surroundings);
  if (mutation.kind === 'deny') throw new Error(mutation.errors.join('\n'));
  return mutation.pod;
}

export function plainPod(name: string, more: Partial<Pod['spec']> = {}): Pod {
  return {
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name } },
    spec: { containers: [{ name: 'app', image: 'app:1', command: ['/bin/app', '--fast'] }], ...more },
  };
}
