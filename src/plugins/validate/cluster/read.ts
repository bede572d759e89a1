import type { KubeRequest } from '../../../runtime/kube/client.ts';
import { KubeError } from '../../../runtime/kube/errors.ts';
import { listAll } from '../../../runtime/kube/list.ts';
import type { KubeObject } from '../../../runtime/kube/objects.ts';
import type { Selection } from '../../../runtime/kube/selection.ts';
import type { CheckContext } from '../contract.ts';
import { asUnread } from './unread.ts';

/** @returns undefined where there is none @throws NotEvaluated */
export async function getObject<T>(context: CheckContext, path: string): Promise<T | undefined> {
  const client = await context.cluster();
  try {
    return await client.request<T>({ path, signal: context.signal });
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw asUnread(error);
  }
}

export interface Listing<O extends KubeObject, T> extends Selection {
  /** What is kept of each; nothing where it is undefined. */
  readonly keep: (object: O) => T | undefined;
}

/** Page by page. @returns undefined where the cluster does not know the kind @throws NotEvaluated */
export async function listObjects<O extends KubeObject, T>(
  context: CheckContext,
  { keep, ...selection }: Listing<O, T>,
): Promise<readonly T[] | undefined> {
  const client = await context.cluster();
  const found: T[] = [];
  const take = (object: O) => {
    const kept = keep(object);
    if (kept !== undefined) found.push(kept);
  };
  try {
    await listAll<O>(client, selection, take, context.signal);
    return found;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw asUnread(error);
  }
}

/** @throws NotEvaluated where it is not allowed; KubeError where it is refused or fails otherwise */
export async function send<T>(context: CheckContext, request: KubeRequest): Promise<T> {
  const client = await context.cluster();
  try {
    return await client.request<T>({ signal: context.signal, ...request });
  } catch (error) {
    throw error instanceof KubeError && error.status !== undefined && error.status !== 403
      ? error
      : asUnread(error);
  }
}

const isMissing = (error: unknown) => error instanceof KubeError && error.status === 404;
