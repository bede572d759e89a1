import { readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { exitStatus, SvcError } from '../../core/errors.ts';
import { secrets } from '../logging/secrets.ts';
import { createAgentPool } from './agent-pool.ts';
import type { KubeConnection } from './connection.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export const serviceAccountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * The API server of the cluster that this process is a pod of; undefined outside of one. The token and the authority
 * are read for each request: the kubelet replaces both.
 */
export function inClusterConnection(
  env: Environment,
  folder: string = serviceAccountFolder,
): KubeConnection | undefined {
  const host = env['KUBERNETES_SERVICE_HOST'];
  const port = env['KUBERNETES_SERVICE_PORT'];
  if (!host || !port) return undefined;
  const server = new URL(`https://${isIPv6(host) ? `[${host}]` : host}:${port}`);
  const pool = createAgentPool(server.protocol);
  const token = tokenReader(join(folder, 'token'));
  return {
    server,
    origin: 'service account',
    async credentials() {
      const ca = await readText(join(folder, 'ca.crt'));
      return { headers: { authorization: `Bearer ${await token()}` }, agent: pool.agentFor({ ca }) };
    },
    close: () => pool.close(),
  };
}

/** Keeps the token out of the log while it is in use. */
function tokenReader(path: string): () => Promise<string> {
  let known = '';
  let forget = () => {};
  return async () => {
    const token = (await readText(path)).trim();
    if (token !== known) {
      forget();
      forget = secrets.register(token);
      known = token;
    }
    return token;
  };
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new SvcError('KUBE_CREDENTIALS', `Cannot read ${path} of the service account`, {
      cause,
      exitStatus: exitStatus.config,
      nextStep: 'Let the pod have its token: automountServiceAccountToken must not be false.',
    });
  }
}
