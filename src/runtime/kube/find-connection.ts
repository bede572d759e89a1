import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { KubeConnection } from './connection.ts';
import { inClusterConnection } from './in-cluster.ts';
import { kubeconfigConnection } from './kubeconfig.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * `KUBECONFIG`, else the pod's own service account, else `~/.kube/config`.
 * @returns undefined where there is none of them
 * @throws SvcError (exit 78) when a kubeconfig cannot be used
 */
export async function findKubeConnection(env: Environment): Promise<KubeConnection | undefined> {
  const named = (env['KUBECONFIG'] ?? '').split(':').filter((path) => path !== '');
  if (named.length > 0) return kubeconfigConnection(named);
  const own = inClusterConnection(env);
  if (own !== undefined) return own;
  const usual = join(env['HOME'] || '/', '.kube', 'config');
  return existsSync(usual) ? kubeconfigConnection([usual]) : undefined;
}
