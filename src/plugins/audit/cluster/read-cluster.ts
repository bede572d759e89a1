import type { KubeClient } from '../../../runtime/kube/client.ts';
import { hasCode } from '../../../runtime/kube/errors.ts';
import { listAll } from '../../../runtime/kube/list.ts';
import { type KubeObject, keyOf } from '../../../runtime/kube/objects.ts';
import { type ClusterObjects, type Collection, collections } from './collections.ts';
import { clusterDenied } from './denied.ts';

/**
 * Lists everything once.
 * @throws SvcError AUDIT_DENIED naming all permissions that are missing; KubeError where the API server fails
 */
export async function readCluster(client: KubeClient, signal: AbortSignal): Promise<ClusterObjects> {
  const all = Object.entries<unknown>(collections()) as [string, Collection<KubeObject, unknown>][];
  const found = await Promise.allSettled(all.map(([, one]) => listed(client, one, signal)));
  const errors = found.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
  const refused = all.filter((_, index) => isDenied((found[index] as PromiseRejectedResult).reason));
  if (refused.length > 0 && refused.length === errors.length)
    throw clusterDenied(
      refused.map(([, { path }]) => `list ${resourceOf(path)}`),
      errors[0],
    );
  if (errors.length > 0) throw errors.find((error) => !isDenied(error));
  const entries = all.map(([name], index) => [name, (found[index] as PromiseFulfilledResult<unknown>).value]);
  return Object.fromEntries(entries) as ClusterObjects;
}

async function listed<T>(
  client: KubeClient,
  { path, project, optional = false }: Collection<KubeObject, T>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, T>> {
  const objects = new Map<string, T>();
  const keep = (object: KubeObject) => void objects.set(keyOf(object), project(object));
  try {
    await listAll(client, { path }, keep, signal);
  } catch (error) {
    if (!optional || !isMissing(error)) throw error;
  }
  return objects;
}

/** `/apis/apps/v1/deployments` as `deployments.apps`, the way that kubectl and roles name it. */
function resourceOf(path: string): string {
  const [, root, group = '', ...rest] = path.split('/');
  return root === 'api' ? (rest.at(-1) ?? '') : `${rest.at(-1)}.${group}`;
}

const isDenied = (error: unknown) => hasCode(error, 'KUBE_DENIED');
const isMissing = (error: unknown) => hasCode(error, 'KUBE_NOT_FOUND');
