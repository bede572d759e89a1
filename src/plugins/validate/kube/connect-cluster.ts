import { messageOf } from '../../../core/errors.ts';
import type { KubeClient } from '../../../runtime/kube/client.ts';
import { hasCode } from '../../../runtime/kube/errors.ts';
import type { Env } from '../call.ts';
import { NotEvaluated } from '../not-evaluated.ts';

const answerMs = 8_000;

/** @throws NotEvaluated where the environment names no cluster, or it does not answer */
export async function connectCluster(env: Env, signal: AbortSignal): Promise<KubeClient> {
  const { createKubeClient } = await import('../../../runtime/kube/create-client.ts');
  const client = await createKubeClient(env).catch((cause: unknown) => {
    throw new NotEvaluated(messageOf(cause), undefined, cause);
  });
  if (client === undefined)
    throw new NotEvaluated(
      'No cluster is named: set KUBECONFIG, run it in a pod, or leave the cluster out with --pre.',
    );
  await answers(client, signal);
  return client;
}

/** Whoever may not read the version has reached the API server nevertheless. */
async function answers(client: KubeClient, signal: AbortSignal): Promise<void> {
  try {
    await client.request({ path: '/version', timeoutMs: answerMs, signal });
  } catch (error) {
    if (hasCode(error, 'KUBE_DENIED') && error.status === 403) return;
    client.close();
    throw new NotEvaluated(
      `The API server ${client.server} does not let us in: ${messageOf(error)}`,
      undefined,
      error,
    );
  }
}
