import { checkStatus } from '../../../core/checks/contract.ts';
import { messageOf, SvcError } from '../../../core/errors.ts';
import type { KubeClient } from '../../../runtime/kube/client.ts';
import { createKubeClient } from '../../../runtime/kube/create-client.ts';
import { KubeError } from '../../../runtime/kube/errors.ts';
import type { Env } from '../contract.ts';

const nextStep =
  'Set KUBECONFIG, or run it in a pod with a service account; for an object store, name --bucket.';

/** @throws SvcError where the environment names no cluster */
export async function connect(env: Env): Promise<KubeClient> {
  const client = await createKubeClient(env).catch((cause: unknown) => {
    throw unevaluated('AUDIT_NO_CLUSTER', messageOf(cause), nextStep, cause);
  });
  if (client !== undefined) return client;
  throw unevaluated('AUDIT_NO_CLUSTER', 'There is no cluster to audit', nextStep);
}

/** What keeps the audit from knowing the cluster; the rest as it is. */
export function explained(error: unknown, { server }: KubeClient): unknown {
  if (!(error instanceof KubeError)) return error;
  const step =
    'Check that the API server can be reached from here with kubectl get nodes, then run it again.';
  return unevaluated(
    'AUDIT_UNREACHABLE',
    `The API server ${server} does not answer: ${error.message}`,
    step,
    error,
  );
}

function unevaluated(code: string, message: string, step: string, cause?: unknown): SvcError {
  const options = { nextStep: step, exitStatus: checkStatus.notEvaluated };
  return new SvcError(code, message, cause === undefined ? options : { ...options, cause });
}
