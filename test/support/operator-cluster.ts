import { insideOf } from '../plugins/agent/load/support/service-account.ts';
import { helm, type Manifest, manifest } from './helm.ts';
import { type Kubernetes, type KubernetesOptions, startKubernetes } from './kubernetes.ts';
import type { MemoryCgroup } from './limit-cgroup.ts';
import { serviceAddress } from './service-address.ts';
import { type SvcOperator, startSvcOperator } from './svc-operator.ts';
import type { Stoppable } from './types.ts';
import { waitFor } from './wait-for.ts';

const NAMESPACE = 'svc-system';

export interface OperatorClusterOptions extends KubernetesOptions {
  /** Of the chart. */
  readonly values?: object;
  /** Default: 1. */
  readonly replicas?: number;
  /** Beside what the chart sets. */
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * A real API server with the chart's objects, and operators that run as processes under the chart's service account,
 * roles and environment. The API server reaches them through the chart's own Service and webhook configuration.
 */
export interface OperatorCluster extends Stoppable {
  readonly kubernetes: Kubernetes;
  /** What the chart gave, as it was applied. */
  readonly manifests: readonly Manifest[];
  readonly replicas: readonly Replica[];
  add(options?: ReplicaOptions): Promise<Replica>;
  /** The one that holds the lease. */
  leader(): Promise<Replica>;
}

export interface ReplicaOptions {
  /** Beside those of all replicas. */
  readonly env?: NodeJS.ProcessEnv;
  /** Where it reaches the API server, such as a fault proxy; default: at its own address. */
  readonly server?: string;
  /** It has its service account as in a pod; default: a kubeconfig, whose reader takes memory of its own. */
  readonly inside?: boolean;
  /** A command that executes the rest of its arguments, such as that of a name server. */
  readonly under?: readonly string[];
  /** Default: as much as it likes. */
  readonly memory?: Pick<MemoryCgroup, 'under'>;
}

export interface Replica extends SvcOperator {
  readonly name: string;
  /** Sends the signal; the Service forgets it as soon as it is not ready any more, or has ended. */
  end(signal: NodeJS.Signals): Promise<void>;
}

/** @throws ToolUnavailable where Kubernetes or Helm cannot be built */
export async function startOperatorCluster(options: OperatorClusterOptions = {}): Promise<OperatorCluster> {
  const kubernetes = await startKubernetes(options);
  const replicas: Replica[] = [];
  const stop = async () => {
    await Promise.all(replicas.map((replica) => replica.stop()));
    await kubernetes.stop();
  };
  try {
    const manifests = await install(kubernetes, options.values ?? {});
    const host = await serviceAddress();
    let count = 0;
    const add = async (more: ReplicaOptions = {}) => {
      const name = `svc-operator-${count++}`;
      const env = { ...options.env, ...more.env };
      const replica = await addReplica(kubernetes, manifests, { ...more, name, host, env });
      replicas.push(replica);
      return replica;
    };
    await Promise.all(Array.from({ length: options.replicas ?? 1 }, () => add()));
    return { kubernetes, manifests, replicas, add, leader: () => leaderOf(kubernetes, replicas), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** All of the chart but what needs nodes, or custom resources of others. */
async function install(kubernetes: Kubernetes, values: object): Promise<Manifest[]> {
  const tool = await helm();
  try {
    const all = await tool.render(values, ['--include-crds']);
    await kubernetes.must('POST', '/api/v1/namespaces', { metadata: { name: NAMESPACE } });
    const definitions = all.filter(({ kind }) => kind === 'CustomResourceDefinition');
    await kubernetes.apply(...definitions);
    const applied = all.filter(({ kind }) => !['CustomResourceDefinition', 'Namespace'].includes(kind));
    await kubernetes.apply(...applied);
    return all;
  } finally {
    await tool.remove();
  }
}

export interface Named {
  readonly name: string;
  readonly host: string;
}

/** Starts one under what the chart has given, and lets the chart's Service know it; `stop` ends it. */
export async function addReplica(
  kubernetes: Kubernetes,
  manifests: readonly Manifest[],
  { name, host, server, inside = false, memory, under = [], env: more = {} }: ReplicaOptions & Named,
): Promise<Replica> {
  const token = await kubernetes.tokenFor({ namespace: NAMESPACE, name: 'svc-operator' });
  const env = { ...environmentOf(manifests), POD_NAME: name, POD_NAMESPACE: NAMESPACE, ...more };
  const pod = inside ? insideOf(kubernetes, token) : undefined;
  const operator = await startSvcOperator({
    ...{ kubeconfig: pod ? '' : kubernetes.kubeconfig(token, server), host },
    ...{ env: { ...env, ...pod?.env }, under: [...under, ...(memory?.under ?? []), ...(pod?.under ?? [])] },
  });
  const path = `/apis/discovery.k8s.io/v1/namespaces/${NAMESPACE}/endpointslices`;
  const withdraw = () => kubernetes.request('DELETE', `${path}/${name}`);
  await kubernetes.must('POST', path, endpointSlice(name, operator.started['webhook'] ?? ''));
  return {
    ...operator,
    name,
    async stop() {
      await operator.stop();
      await pod?.remove();
    },
    async end(signal) {
      const ended = operator.kill(signal);
      await withdraw();
      await ended;
    },
  };
}

const listens = /^SVC_OPERATOR_(WEBHOOK|METRICS|HEALTH|GRPC)_ADDR$/;

/** Variables of the chart's container, but where it listens: the test chooses free ports. */
export function environmentOf(manifests: readonly Manifest[]): Record<string, string> {
  const [container] = manifest(manifests, 'Deployment', 'svc-operator').spec.template.spec.containers;
  const given: { name: string; value?: string }[] = container.env;
  return Object.fromEntries(
    given.flatMap(({ name, value }) => (value === undefined || listens.test(name) ? [] : [[name, value]])),
  );
}

function endpointSlice(name: string, address: string): object {
  const [host, port] = address.split(':');
  return {
    ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', addressType: 'IPv4' },
    metadata: {
      name,
      labels: {
        'kubernetes.io/service-name': 'svc-operator',
        'endpointslice.kubernetes.io/managed-by': 'test',
      },
    },
    ports: [{ name: 'webhook', port: Number(port), protocol: 'TCP' }],
    endpoints: [{ addresses: [host], conditions: { ready: true } }],
  };
}

async function leaderOf(kubernetes: Kubernetes, replicas: readonly Replica[]): Promise<Replica> {
  return waitFor('a leader', async () => {
    const path = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases/svc-operator`;
    const { json } = await kubernetes.request('GET', path);
    const holder = (json as { spec?: { holderIdentity?: string } }).spec?.holderIdentity ?? '';
    return replicas.find(({ name }) => holder.startsWith(`${name}_`));
  });
}
