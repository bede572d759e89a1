import type { KubeClient } from '../../src/cluster/kube/client.ts';
import {
  type NewObject,
  namespaceOf,
  newDeployment,
  newPod,
  newReplicaSet,
  newServiceConfig,
  runningStatus,
  type Size,
} from './population.ts';

const atOnce = 16;

interface Created {
  readonly metadata: { readonly name: string; readonly uid: string };
}

/** Fills a cluster, with an operator that is not there yet. */
export async function populate(
  client: KubeClient,
  size: Size,
  say: (progress: string) => void,
): Promise<void> {
  const create = ({ path, body }: NewObject) => client.request<Created>({ method: 'POST', path, body });
  await forAll(size.namespaces, (index) => createNamespace(client, namespaceOf(index)));
  await forAll(size.serviceConfigs, (index) => create(newServiceConfig(index, size)));
  say(`${size.namespaces} namespaces, ${size.serviceConfigs} ServiceConfigs`);
  await forAll(size.deployments, async (index) => {
    const deployment = await create(newDeployment(index, size));
    const replicaSet = await create(newReplicaSet(index, size, deployment.metadata.uid));
    for (let replica = 0; replica < size.replicas; replica++) {
      await run(client, newPod(index, replica, size, replicaSet.metadata.uid));
    }
  });
  say(`${size.deployments} Deployments, ${size.deployments * size.replicas} pods`);
}

/** With the service account that pods of it need. */
export async function createNamespace(client: KubeClient, name: string): Promise<void> {
  const namespace = { metadata: { name, labels: { team: name } } };
  await client.request({ method: 'POST', path: '/api/v1/namespaces', body: namespace });
  const path = `/api/v1/namespaces/${name}/serviceaccounts`;
  await client.request({ method: 'POST', path, body: { metadata: { name: 'default' } } });
}

/** Creates a pod, and says that it runs. */
async function run(client: KubeClient, { path, body }: NewObject): Promise<void> {
  const { metadata } = await client.request<Created>({ method: 'POST', path, body });
  await client.request({
    ...{ method: 'PATCH', path: `${path}/${metadata.name}/status`, body: { status: runningStatus } },
    contentType: 'application/merge-patch+json',
  });
}

/** For 0 to `count` - 1, a few at once. */
export async function forAll(count: number, work: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
