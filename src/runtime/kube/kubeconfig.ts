import http, { type Agent } from 'node:http';
import https, { type AgentOptions, type RequestOptions } from 'node:https';
import { isDeepStrictEqual } from 'node:util';
import { exitStatus, SvcError } from '../../core/errors.ts';
import { outliveAborts } from '../net/connections.ts';

type ClientConfig = import('@kubernetes/client-node').KubeConfig;

/**
 * The current context of kubeconfig files, of which an earlier one wins. The Kubernetes client handles all ways of
 * authentication, exec plugins included; it costs 30 MiB, so it is not loaded in a pod.
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

/** Where an API server is, and the credentials for requests. */
export interface KubeConnection {
  /** With a path where the API has a prefix. */
  readonly server: URL;
  /** Where it was found, for the log: `service account`, or a kubeconfig file. */
  readonly origin: string;
  /**
   * Credentials for the next request, because they rotate.
   * @param refused the last ones were answered with 401
   * @throws SvcError when they cannot be read
   */
  credentials(refused: boolean): Promise<KubeCredentials>;
  close(): void;
}

export interface KubeCredentials {
  /** Of the request, the authorization among them. */
  readonly headers: Readonly<Record<string, string>>;
  /** Its connections, which carry the client certificate and the trusted authority. */
  readonly agent: Agent;
}

const keepAliveMs = 15_000;

/** Keeps connections for as long as their TLS files stay the same. */
export interface AgentPool {
  agentFor(tls: AgentOptions): Agent;
  close(): void;
}

/** For one server; `protocol` is that of its URL. */
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

/** Requests in progress, such as a watch, are not interrupted. */
function retire(agent: Agent | undefined): void {
  if (agent === undefined) return;
  agent.maxFreeSockets = 0;
  for (const sockets of Object.values(agent.freeSockets))
    for (const socket of sockets ?? []) socket.destroy();
}
