import type { KubeClient } from './client.ts';
import { type Lease, type LeaseRecord, readLease, specOf } from './lease.ts';
import { unless } from './unless.ts';

export interface LeaseCall {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** One Lease at the API server. Writes succeed only over what was read. */
export interface LeaseStore {
  /** Undefined where there is none. @throws KubeError */
  read(call: LeaseCall): Promise<Lease | undefined>;
  /** @throws KubeError KUBE_CONFLICT where there is one by now */
  create(record: LeaseRecord, call: LeaseCall): Promise<Lease>;
  /** @throws KubeError KUBE_CONFLICT where somebody else has written, KUBE_NOT_FOUND where it is gone */
  update(lease: Lease, record: LeaseRecord, call: LeaseCall): Promise<Lease>;
}

const kind = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' };

export function createLeaseStore(client: KubeClient, namespace: string, name: string): LeaseStore {
  const collection = `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases`;
  const path = `${collection}/${encodeURIComponent(name)}`;
  return {
    async read(call) {
      const lease = await unless(client.request({ path, ...call }), 'KUBE_NOT_FOUND');
      return lease === undefined ? undefined : readLease(lease);
    },
    async create(record, call) {
      const body = { ...kind, metadata: { namespace, name }, spec: specOf(record) };
      return readLease(await client.request({ method: 'POST', path: collection, body, ...call }));
    },
    async update({ object }, record, call) {
      const body = { ...object, ...kind, spec: specOf(record) };
      return readLease(await client.request({ method: 'PUT', path, body, ...call }));
    },
  };
}
