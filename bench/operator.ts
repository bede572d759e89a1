import type { KubeClient } from '../src/cluster/kube/client.ts';
import { createKubeClient } from '../src/cluster/kube/create-client.ts';
import { createMemoryCgroup, type MemoryCgroup } from '../test/support/limit-cgroup.ts';
import { type OperatorCluster, startOperatorCluster } from '../test/support/operator-cluster.ts';
import { type Registry, startRegistry } from '../test/support/registry.ts';
import type { Bench, Row, Table } from './harness/bench.ts';
import { measureAdmission } from './operator/admission.ts';
import { measureRelist, measureStorm, memoryRow, settledRow } from './operator/memory.ts';
import { subjects } from './operator/pods.ts';
import { populate } from './operator/populate.ts';
import type { Size } from './operator/population.ts';
import { measureReconciling } from './operator/reconcile.ts';
import { measureStartUp, mirroredRegistry, type StartUp } from './operator/start-up.ts';

export const name = 'operator';
export const summary = 'The operator in a large cluster: admission, memory, reconciling, start';

/** The chart's limit. Bytes. */
const memoryLimit = 128 * 1024 ** 2;
const size: Size = { namespaces: 200, deployments: 1_250, replicas: 4, serviceConfigs: 500 };

export const run: Bench['run'] = async (say) => {
  const memory = createMemoryCgroup(memoryLimit);
  try {
    return await inCluster(memory, say);
  } finally {
    await memory.remove();
  }
};

async function inCluster(memory: MemoryCgroup, say: (progress: string) => void): Promise<Table[]> {
  const cluster = await startOperatorCluster({ replicas: 0 });
  try {
    const client = await connect(cluster);
    const registry = await startRegistry();
    try {
      return await measure({ cluster, client, registry, memory }, say);
    } finally {
      client.close();
      await registry.stop();
    }
  } finally {
    await cluster.stop();
  }
}

async function connect({ kubernetes }: OperatorCluster): Promise<KubeClient> {
  const client = await createKubeClient({ KUBECONFIG: kubernetes.kubeconfig() });
  if (client === undefined) throw new Error('there is no API server');
  return client;
}

interface Setting {
  readonly cluster: OperatorCluster;
  readonly client: KubeClient;
  readonly registry: Registry;
  readonly memory: MemoryCgroup;
}

async function measure(
  { cluster, client, registry, memory: given }: Setting,
  say: (progress: string) => void,
): Promise<Table[]> {
  await registry.push('app', '1', { entrypoint: ['/usr/bin/app'], cmd: ['serve'], user: '1000' });
  await populate(client, size, say);
  const start = await measureStartUp(cluster, registry, given);
  const { replica } = start;
  const memory: Row[] = [memoryRow('ready', replica)];
  say('started');
  memory.push(await settledRow('20 s later', replica));
  const pods = subjects(`${mirroredRegistry}/app:1`);
  const admission = await measureAdmission(client, replica, pods, say);
  memory.push(memoryRow('after the admissions', replica));
  const reconciling = await measureReconciling(client, size, say);
  memory.push(memoryRow('after all ServiceConfigs have changed', replica));
  say('listing anew');
  memory.push(await measureRelist(cluster.kubernetes, replica));
  memory.push(await settledRow('20 s later', replica));
  const large = pods.at(-1)?.pod ?? {};
  for (const count of [100, 500]) {
    say(`${count} large reviews at once`);
    memory.push(await measureStorm(replica, large, count));
    memory.push(await settledRow('20 s later', replica));
  }
  if (given.killed() > 0) throw new Error('the operator was killed because memory ran out');
  return [...admission, memoryTable(memory), reconciling, startTable(start)];
}

function memoryTable(rows: Row[]): Table {
  const { namespaces, deployments, replicas, serviceConfigs } = size;
  return {
    title: 'Resident memory in MiB',
    columns: ['now', 'anonymous', 'peak since the row above'],
    rows: [...rows, { name: 'aim', cells: [112, undefined, 112] }],
    notes: [
      `${deployments * replicas} pods of ${deployments} Deployments and as many ReplicaSets, ${namespaces} namespaces, ${serviceConfigs} ServiceConfigs.`,
      `Its container may have ${memoryLimit / 1024 ** 2} MiB. What is not anonymous is pages of files, which the system can drop.`,
    ],
  };
}

function startTable({ listening, ready, cpu }: StartUp): Table {
  return {
    title: 'Start in that cluster, in seconds',
    columns: ['until it listens', 'until it is ready', 'CPU'],
    rows: [{ name: 'svc run operator', cells: [listening, ready, cpu] }],
  };
}
