import { isExempt } from '../../../cluster/injection/protected-pods.ts';
import { hasCode, KubeError, type KubeObject, type KubeRequest } from '../../../cluster/kube/client.ts';
import type { KnownNamespace } from '../../../cluster/kube/known-objects.ts';
import { collectAll, type Selection } from '../../../cluster/kube/list.ts';
import {
  projectNamespace,
  projectPolicy,
  projectSecretMapping,
  projectServiceConfig,
} from '../../../cluster/kube/project-objects.ts';
import { readVersion } from '../../../cluster/kube/server-version.ts';
import { apiVersion } from '../../../cluster/resources/resources.ts';
import { type CheckContext, type CheckFailure, NotEvaluated, shared } from '../check.ts';

/** @returns undefined if the object does not exist @throws NotEvaluated */
export async function getObject<T>(context: CheckContext, path: string): Promise<T | undefined> {
  const client = await context.cluster();
  try {
    return await client.request<T>({ path, signal: context.signal });
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw asUnread(error);
  }
}

export interface ClusterListing<O extends KubeObject, T> extends Selection {
  /** The part to keep of each object; undefined drops the object. */
  readonly keep: (object: O) => T | undefined;
}

/** Lists page by page. @returns undefined if the cluster does not know the kind @throws NotEvaluated */
export async function listObjects<O extends KubeObject, T>(
  context: CheckContext,
  { keep, ...selection }: ClusterListing<O, T>,
): Promise<readonly T[] | undefined> {
  const client = await context.cluster();
  try {
    return await collectAll<O, T>(client, selection, keep, context.signal);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw asUnread(error);
  }
}

/** @throws NotEvaluated if a permission is missing; KubeError if the request is refused or fails otherwise */
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

/** Undefined if the API server does not report it. @throws NotEvaluated */
export const serverVersionOf = shared(async (context) =>
  readVersion(await send(context, { path: '/version' })),
);

const isMissing = (error: unknown) => error instanceof KubeError && error.status === 404;

/** Errors of the API server as NotEvaluated; other errors, and refusals by admission, unchanged. */
export function asUnread(error: unknown): unknown {
  if (!(error instanceof KubeError)) return error;
  const permission = missingPermission(error);
  if (permission !== undefined)
    return new NotEvaluated(`It is not allowed to ${permission}`, permission, error);
  if (error.status === 403) return error;
  return new NotEvaluated(`The API server could not be asked: ${error.message}`, undefined, error);
}

/** The missing permission from the API server's message, such as `get deployments.apps in svc-system`. */
export function missingPermission(error: unknown): string | undefined {
  if (!hasCode(error, 'KUBE_DENIED')) return undefined;
  const said =
    / cannot (\w+) resource "([^"]+)"(?: in API group "([^"]*)")?(?: in the namespace "([^"]+)")?/.exec(
      error.message,
    );
  if (said === null) return undefined;
  const [, verb, resource = '', group = '', namespace] = said;
  const [plural = '', ...subresource] = resource.split('/');
  const named = [group === '' ? plural : `${plural}.${group}`, ...subresource].join('/');
  return `${verb} ${named}${namespace === undefined ? '' : ` in ${namespace}`}`;
}

/** Namespaces whose pods the webhook reviews. @throws NotEvaluated */
export const namespacesOf = shared(async (context): Promise<readonly KnownNamespace[]> => {
  const all = (await listObjects(context, { path: '/api/v1/namespaces', keep: projectNamespace })) ?? [];
  const own = context.config.operatorNamespace;
  return all.filter(({ name, terminating }) => !terminating && !isExempt(name, own));
});

/** Undefined if the cluster does not know the kind. @throws NotEvaluated */
export const serviceConfigsOf = shared((context) =>
  listObjects(context, { path: `/apis/${apiVersion}/serviceconfigs`, keep: projectServiceConfig }),
);

/** Undefined if the cluster does not know the kind. @throws NotEvaluated */
export const secretMappingsOf = shared((context) =>
  listObjects(context, { path: `/apis/${apiVersion}/secretmappings`, keep: projectSecretMapping }),
);

/** @throws NotEvaluated */
export const policiesOf = shared(async (context) => {
  const path = '/apis/networking.k8s.io/v1/networkpolicies';
  return (await listObjects(context, { path, keep: projectPolicy })) ?? [];
});

const maxFailures = 200;

/** Lists the first 200 failures and counts the others, with the worst level among them. */
export function capped(failures: readonly CheckFailure[]): readonly CheckFailure[] {
  const rest = failures.slice(maxFailures);
  const has = (level: CheckFailure['level']) => rest.find((one) => one.level === level);
  const worst = has('error') ?? has(undefined) ?? has('warning') ?? rest[0];
  if (worst === undefined) return failures;
  const more = { ...worst, subject: 'cluster', message: `There are ${rest.length} more of the same.` };
  return [...failures.slice(0, maxFailures), more];
}
