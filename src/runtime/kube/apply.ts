import { fieldManager } from '../../core/kubernetes/ownership.ts';
import type { KubeClient } from './client.ts';

export interface ApplyRequest {
  /** Of the object, existing or not: `/api/v1/namespaces/default/configmaps/svc-ca`. */
  readonly path: string;
  /** With `apiVersion`, `kind` and all fields that we want to own: those we owned and that are missing are removed. */
  readonly object: object;
  /** Take over fields that others have set to something else; default: that is a KUBE_CONFLICT. */
  readonly force?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Server-side apply, which makes what does not exist; one that changes nothing is no write.
 * @returns the object as it is now
 * @throws KubeError
 */
export function apply<T>(client: KubeClient, request: ApplyRequest): Promise<T> {
  const { path, object: body, force = false, signal } = request;
  const query = { fieldManager, force };
  return client.request<T>({
    ...{ method: 'PATCH', path, query, body, signal },
    contentType: 'application/apply-patch+yaml',
  });
}

/** The status of an object that exists and that nobody else writes. @throws KubeError */
export function applyStatus<T>(client: KubeClient, request: Omit<ApplyRequest, 'force'>): Promise<T> {
  return apply<T>(client, { ...request, path: `${request.path}/status`, force: true });
}
