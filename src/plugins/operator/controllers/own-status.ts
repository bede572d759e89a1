import { apiVersion } from '../../../core/custom-resources/condition.ts';
import { applyStatus } from '../../../runtime/kube/apply.ts';
import type { KubeClient } from '../../../runtime/kube/client.ts';
import type { Followed } from '../cluster/contract.ts';
import { isSameStatus } from './conditions.ts';

interface WithStatus<Status> {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly status: Status;
}

/** Statuses of one kind of custom resource, written only when they say something new. */
export interface OwnStatus<T, Status> {
  /** What it was written to last, though the watch may not have told yet. */
  of(object: T): Status;
  /** @throws KubeError */
  write(object: T, status: Status, signal: AbortSignal): Promise<void>;
}

/** @param plural of the kind, as its paths have it */
export function createOwnStatus<Status extends object, T extends WithStatus<Status>>(
  client: KubeClient,
  followed: Followed<T>,
  kind: string,
  plural: string,
): OwnStatus<T, Status> {
  const written = new Map<string, { readonly uid: string; readonly status: Status }>();
  followed.onChange(({ key }) => void written.delete(key));
  const of = ({ key, uid, status }: T) => {
    const last = written.get(key);
    return last?.uid === uid ? last.status : status;
  };
  return {
    of,
    async write(object, status, signal) {
      if (isSameStatus(of(object), status)) return;
      const { key, namespace, name, uid } = object;
      const path = `/apis/${apiVersion}/namespaces/${namespace}/${plural}/${name}`;
      // with the UID, so that one that was made anew meanwhile is not taken for this one
      const body = { apiVersion, kind, metadata: { name, namespace, uid }, status };
      await applyStatus(client, { path, object: body, signal });
      if (isCurrent(followed, object)) written.set(key, { uid, status });
    },
  };
}

/** What is gone, or was told anew while it was written, is not remembered. */
function isCurrent<T extends { readonly key: string }>(followed: Followed<T>, object: T): boolean {
  return followed.get(object.key) === object;
}
