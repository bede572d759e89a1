import http, { type Agent } from 'node:http';
import https, { type AgentOptions, type RequestOptions } from 'node:https';
import { isDeepStrictEqual } from 'node:util';
import { exitStatus, SvcError } from '../../runtime/errors.ts';
import { outliveAborts } from '../../runtime/net/connections.ts';

type ClientConfig = import('@kubernetes/client-node').KubeConfig;

/**
 * The current context of kubeconfig files; earlier files take precedence. The Kubernetes client handles all kinds of
 * authentication, including exec plugins, but costs 30 MiB, so it is not loaded in a pod.
 * @throws SvcError (exit 78) for an unusable file
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

/** Runs an exec plugin if the kubeconfig names one. */
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

/** Address of an API server, and credentials for requests. */
export interface KubeConnection {
  /** Includes a path if the API has a prefix. */
  readonly server: URL;
  /** How the connection was found, for the log: `service account`, or a kubeconfig file. */
  readonly origin: string;
  /**
   * Credentials for the next request; they rotate.
   * @param refused the last credentials were answered with 401
   * @throws SvcError if they cannot be read
   */
  credentials(refused: boolean): Promise<KubeCredentials>;
  close(): void;
}

export interface KubeCredentials {
  /** Headers for the request, including its authorization. */
  readonly headers: Readonly<Record<string, string>>;
  /** Holds the connections, with client certificate and trusted CA. */
  readonly agent: Agent;
}

const keepAliveMs = 15_000;

/** Keeps connections while their TLS files do not change. */
export interface AgentPool {
  agentFor(tls: AgentOptions): Agent;
  close(): void;
}

/** @param protocol the protocol of the server's URL */
export function createAgentPool(protocol: string): AgentPool {
  let current: { readonly tls: AgentOptions; readonly agent: Agent } | undefined;
  return {
    agentFor(tls) {
      if (current === undefined || !isDeepStrictEqual(current.tls, tls)) {
        retire(current?.agent);
        current = { tls, agent: createAgent(protocol, tls) };
      }
      return current.agent;
    },
    close: () => current?.agent.destroy(),
  };
}

function createAgent(protocol: string, tls: AgentOptions): Agent {
  const options = { keepAlive: true, keepAliveMsecs: keepAliveMs };
  return outliveAborts(
    protocol === 'https:' ? new https.Agent({ ...options, ...tls }) : new http.Agent(options),
  );
}

/** Does not interrupt requests in progress, such as a watch. */
function retire(agent: Agent | undefined): void {
  if (agent === undefined) return;
  agent.maxFreeSockets = 0;
  for (const sockets of Object.values(agent.freeSockets))
    for (const socket of sockets ?? []) socket.destroy();
}
