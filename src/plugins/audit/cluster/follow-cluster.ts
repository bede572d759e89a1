import type { KubeClient } from '../../../runtime/kube/client.ts';
import type { KubeObject } from '../../../runtime/kube/objects.ts';
import { reflect } from '../../../runtime/kube/reflect.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { type ClusterObjects, type Collection, collections } from './collections.ts';

/** What is known of the cluster now, following the API server until the signal is aborted. */
export interface FollowedCluster {
  readonly objects: ClusterObjects;
  /** Everything that a cluster must have was listed. */
  readonly synced: boolean;
  readonly closed: Promise<void>;
}

export function followCluster(
  client: KubeClient,
  log: Logger,
  onChange: () => void,
  signal: AbortSignal,
): FollowedCluster {
  const all = Object.entries<unknown>(collections()) as [string, Collection<KubeObject, unknown>][];
  const handlers = { onAdd: onChange, onChange, onDelete: onChange, onListed: onChange };
  const followed = all.map(([name, { path, project, optional = false }]) => {
    const reflector = reflect({ client, log, signal, path, project, ...handlers });
    return { name, optional, reflector };
  });
  const needed = followed.filter(({ optional }) => !optional);
  return {
    objects: Object.fromEntries(
      followed.map(({ name, reflector }) => [name, reflector]),
    ) as unknown as ClusterObjects,
    get synced() {
      return needed.every(({ reflector }) => reflector.synced);
    },
    closed: Promise.all(followed.map(({ reflector }) => reflector.closed)).then(() => {}),
  };
}
