import { http } from '../../../../support/http.ts';
import type { Kubernetes } from '../../../../support/kubernetes.ts';
import {
  type OperatorCluster,
  type OperatorClusterOptions,
  type Replica,
  startOperatorCluster,
} from '../../../../support/operator-cluster.ts';
import type { HttpResult } from '../../../../support/types.ts';
import { waitFor } from '../../../../support/wait-for.ts';
import { createAdmissionClient } from './admissions.ts';

export interface Bed extends OperatorCluster {
  /** Where pods are created. */
  readonly namespace: string;
}

/** Replicas of this chart elect a leader, and share their certificates. */
const chartValues = { operator: { vaultAddress: 'https://vault.example:8200', ha: true } };

/** Operators that a pod has been admitted by, so that their certificates are where they belong. */
export async function startBed(options: OperatorClusterOptions = {}): Promise<Bed> {
  const cluster = await startOperatorCluster({ ...options, values: { ...chartValues, ...options.values } });
  try {
    const namespace = await cluster.kubernetes.createNamespace();
    await admits(cluster.kubernetes, namespace);
    return { ...cluster, namespace };
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

/** Waits until a pod that asks for protection gets it. */
export async function admits(kubernetes: Kubernetes, namespace: string): Promise<void> {
  const client = createAdmissionClient(kubernetes, namespace);
  let last = '';
  const injected = async () => {
    const admission = await client.admit();
    last = admission.message;
    return admission.injected;
  };
  await waitFor('an admission', injected, { details: () => last }).finally(client.close);
}

/** Waits until as many of them say that they are ready. */
export function readyReplicas({ replicas }: OperatorCluster, count: number): Promise<unknown> {
  return waitFor(`${count} replicas that are ready`, async () => {
    const all = await Promise.all(replicas.map((replica) => page(replica, 'readyz').catch(() => undefined)));
    return all.filter((answer) => answer?.status === 200).length >= count;
  });
}

/** @param name `readyz` or `healthz`; its JSON names what is wrong */
export function page({ started }: Replica, name: string): Promise<HttpResult> {
  return http(`http://${started['health']}/${name}`);
}

/** The Service forgets a replica, as it does when the replica is not ready any more. */
export function withdraw({ kubernetes }: OperatorCluster, { name }: Replica): Promise<unknown> {
  const path = '/apis/discovery.k8s.io/v1/namespaces/svc-system/endpointslices';
  return kubernetes.request('DELETE', `${path}/${name}`);
}
