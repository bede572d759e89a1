import { hasCode, KubeError } from '../../../runtime/kube/errors.ts';
import { NotEvaluated } from '../not-evaluated.ts';

/** What the API server did not tell, as it is to be told; any other error, and what admission refuses, as it is. */
export function asUnread(error: unknown): unknown {
  if (!(error instanceof KubeError)) return error;
  const permission = missingPermission(error);
  if (permission !== undefined)
    return new NotEvaluated(`It is not allowed to ${permission}`, permission, error);
  if (error.status === 403) return error;
  return new NotEvaluated(`The API server could not be asked: ${error.message}`, undefined, error);
}

/** `get deployments.apps in svc-system`, as the API server names what its authorizers do not allow. */
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
