import type { KubeClient } from '../../../runtime/kube/client.ts';
import { hasCode } from '../../../runtime/kube/errors.ts';
import { readLease, seemsHeld } from '../../../runtime/kube/lease.ts';
import { clusterDenied } from './denied.ts';

/** Whether somebody keeps the reports; `because` is why not, as a sentence. */
export type OperatorState = { readonly alive: true } | { readonly alive: false; readonly because: string };

const name = 'svc-operator';

/**
 * An operator that leads renews its lease; of versions that had none for a single replica, the Deployment says it.
 * @throws SvcError AUDIT_DENIED; KubeError
 */
export async function operatorState(
  client: KubeClient,
  namespace: string,
  signal: AbortSignal,
  now: number,
): Promise<OperatorState> {
  const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${name}`;
  const lease = await found(client, path, `get leases.coordination.k8s.io in ${namespace}`, signal);
  return lease === undefined ? withoutLease(client, namespace, signal) : ofLease(lease, namespace, now);
}

function ofLease(lease: unknown, namespace: string, now: number): OperatorState {
  const { record } = readLease(lease);
  if (seemsHeld(record, now)) return { alive: true };
  const renewed =
    record.holder === '' ? 'is held by nobody' : `was last renewed at ${record.renewTime || 'no time'}`;
  return { alive: false, because: `No operator leads: The lease ${name} in ${namespace} ${renewed}.` };
}

async function withoutLease(
  client: KubeClient,
  namespace: string,
  signal: AbortSignal,
): Promise<OperatorState> {
  const path = `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`;
  const deployment = await found(client, path, `get deployments.apps in ${namespace}`, signal);
  const { availableReplicas = 0 } = (deployment as Deployment | undefined)?.status ?? {};
  if (availableReplicas > 0) return { alive: true };
  return { alive: false, because: `No operator runs in ${namespace}.` };
}

interface Deployment {
  readonly status?: { readonly availableReplicas?: number };
}

async function found(
  client: KubeClient,
  path: string,
  permission: string,
  signal: AbortSignal,
): Promise<unknown> {
  try {
    return await client.request<unknown>({ path, signal });
  } catch (error) {
    if (hasCode(error, 'KUBE_NOT_FOUND')) return undefined;
    if (hasCode(error, 'KUBE_DENIED')) throw clusterDenied([permission], error);
    throw error;
  }
}
