import type { KubeClient } from '../runtime/kube/client.ts';

/**
 * A client of the API server of `KUBECONFIG`, else of the pod that this runs in, else of `~/.kube/config`.
 * @returns undefined where there is none of them
 * @throws SvcError (exit 78) when a kubeconfig cannot be used
 */
export async function connectCluster(
  env: Readonly<Record<string, string | undefined>>,
): Promise<KubeClient | undefined> {
  const { createKubeClient } = await import('../runtime/kube/create-client.ts');
  return createKubeClient(env);
}
