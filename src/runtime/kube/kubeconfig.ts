import type { AgentOptions, RequestOptions } from 'node:https';
import { exitStatus, SvcError } from '../../core/errors.ts';
import { createAgentPool } from './agent-pool.ts';
import type { KubeConnection } from './connection.ts';

type ClientConfig = import('@kubernetes/client-node').KubeConfig;

/**
 * The current context of kubeconfig files, of which an earlier one wins. Everything that they can say about getting
 * in is the Kubernetes client's to do, exec plugins included; it costs 30 MiB, so a pod does without it.
 * @throws SvcError (exit 78) when a file cannot be used
 */
export async function kubeconfigConnection(paths: readonly string[]): Promise<KubeConnection> {
  const origin = paths.join(':');
  let config = await load(paths);
  const server = serverOf(config, origin);
  const pool = createAgentPool(server.protocol);
  return {
    server,
    origin,
    async credentials(refused) {
      if (refused) config = await load(paths);
      const options = await applied(config, origin);
      const own = config.getCurrentCluster()?.proxyUrl ? options.agent : undefined;
      const agent = typeof own === 'object' ? own : pool.agentFor(tlsOf(options));
      return { headers: headersOf(options), agent };
    },
    close: () => pool.close(),
  };
}

async function load(paths: readonly string[]): Promise<ClientConfig> {
  const { KubeConfig } = await import('@kubernetes/client-node/dist/config.js');
  try {
    const [first, ...others] = paths.map((path) => {
      const config = new KubeConfig();
      config.loadFromFile(path);
      return config;
    });
    for (const other of others) first?.mergeConfig(other);
    return first as ClientConfig;
  } catch (cause) {
    throw unusable(`Cannot read the kubeconfig ${paths.join(':')}`, cause);
  }
}

/** Runs an exec plugin where the kubeconfig names one. */
async function applied(config: ClientConfig, origin: string): Promise<RequestOptions> {
  const options: RequestOptions = {};
  try {
    await config.applyToHTTPSOptions(options);
    return options;
  } catch (cause) {
    throw unusable(`The kubeconfig ${origin} gives no credentials`, cause);
  }
}

function serverOf(config: ClientConfig, origin: string): URL {
  const address = config.getCurrentCluster()?.server ?? '';
  if (URL.canParse(address)) return new URL(address);
  throw unusable(`The kubeconfig ${origin} names no cluster in its current context`);
}

function unusable(message: string, cause?: unknown): SvcError {
  return new SvcError('KUBE_CONFIG', message, {
    cause,
    exitStatus: exitStatus.config,
    nextStep: 'Check KUBECONFIG with kubectl config view.',
  });
}

function headersOf({ headers, auth }: RequestOptions): Record<string, string> {
  const given = Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), String(value)]);
  const basic = auth ? { authorization: `Basic ${Buffer.from(auth).toString('base64')}` } : {};
  return { ...basic, ...Object.fromEntries(given) };
}

function tlsOf({ ca, cert, key, servername, rejectUnauthorized }: RequestOptions): AgentOptions {
  const all = { ca, cert, key, servername, rejectUnauthorized };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined && value !== null));
}
