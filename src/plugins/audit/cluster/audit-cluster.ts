import {
  hasCode,
  isTrustOrLogin,
  type KubeClient,
  KubeError,
  type KubeObject,
  keyOf,
  unless,
} from '../../../cluster/kube/client.ts';
import { createKubeClient } from '../../../cluster/kube/create-client.ts';
import { collectAll } from '../../../cluster/kube/list.ts';
import { messageOf, SvcError } from '../../../runtime/errors.ts';
import { checkStatus } from '../../../runtime/report/check-outcome.ts';
import type { AuditCall, AuditEnv, AuditTerms } from '../terms.ts';
import {
  type ClusterObjects,
  type Collection,
  clusterDenied,
  collections,
  operatorState,
} from './collections.ts';
import { evaluate } from './evaluate.ts';
import { auditedNodes, type ClusterReport, clusterReport } from './report.ts';
import { watchCluster } from './watch-cluster.ts';
import { writeReport } from './write-report.ts';

/** Audits the cluster once, or continuously with --watch; resolves with the exit status. @throws SvcError */
export async function auditCluster(call: AuditCall, terms: AuditTerms, signal: AbortSignal): Promise<number> {
  const client = await connect(call.env);
  try {
    const report = await auditOnce(client, call, terms, signal);
    if (call.flags.watch) return await watchCluster(client, report, call, terms, signal);
    writeReport(report, call, terms);
    return report.outcome.exitStatus;
  } catch (error) {
    throw explained(error, client);
  } finally {
    client.close();
  }
}

async function auditOnce(
  client: KubeClient,
  { flags }: AuditCall,
  terms: AuditTerms,
  signal: AbortSignal,
): Promise<ClusterReport> {
  const own = flags['operator-namespace'];
  const objects = await readCluster(client, signal);
  const operator = await operatorState(client, own, signal, Date.now());
  const found = {
    workloads: evaluate(objects, operator, own),
    nodes: auditedNodes(objects, operator, flags.namespace),
  };
  return clusterReport(client.server, found, flags, terms);
}

const nextStep =
  'Set KUBECONFIG, or run it in a pod with a service account; for an object store, name --bucket.';

/** @throws SvcError if the environment names no cluster */
export async function connect(env: AuditEnv): Promise<KubeClient> {
  const client = await createKubeClient(env).catch((cause: unknown) => {
    throw unevaluated('AUDIT_NO_CLUSTER', messageOf(cause), nextStep, cause);
  });
  if (client !== undefined) return client;
  throw unevaluated('AUDIT_NO_CLUSTER', 'There is no cluster to audit', nextStep);
}

/** Explains errors of the API server, except for those that explain themselves; others are returned unchanged. */
function explained(error: unknown, { server }: KubeClient): unknown {
  if (!(error instanceof KubeError) || isTrustOrLogin(error)) return error;
  const step =
    'Check that the API server can be reached from here with kubectl get nodes, then run it again.';
  return unevaluated(
    'AUDIT_UNREACHABLE',
    `The cluster of ${server} cannot be read: ${error.message}`,
    step,
    error,
  );
}

function unevaluated(code: string, message: string, step: string, cause?: unknown): SvcError {
  const options = { nextStep: step, exitStatus: checkStatus.notEvaluated };
  return new SvcError(code, message, cause === undefined ? options : { ...options, cause });
}

/**
 * Lists everything once.
 * @throws SvcError AUDIT_DENIED naming every missing permission; KubeError if the API server fails
 */
export async function readCluster(client: KubeClient, signal: AbortSignal): Promise<ClusterObjects> {
  const all = Object.entries<unknown>(collections()) as [string, Collection<KubeObject, unknown>][];
  const found = await Promise.allSettled(all.map(([, one]) => listAll(client, one, signal)));
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

async function listAll<T>(
  client: KubeClient,
  { path, project, optional = false }: Collection<KubeObject, T>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, T>> {
  const keep = (object: KubeObject): [string, T] => [keyOf(object), project(object)];
  const all = collectAll(client, { path }, keep, signal);
  return new Map(optional ? await unless(all, 'KUBE_NOT_FOUND') : await all);
}

/** `/apis/apps/v1/deployments` as `deployments.apps`, as in kubectl and roles. */
function resourceOf(path: string): string {
  const [, root, group = '', ...rest] = path.split('/');
  return root === 'api' ? (rest.at(-1) ?? '') : `${rest.at(-1)}.${group}`;
}

const isDenied = (error: unknown) => hasCode(error, 'KUBE_DENIED');
