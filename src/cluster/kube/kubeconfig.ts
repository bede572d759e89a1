import { readFile } from 'node:fs/promises';
import type { Agent, OutgoingHttpHeaders } from 'node:http';
import type { AgentOptions, RequestOptions } from 'node:https';
import { isDeepStrictEqual } from 'node:util';
import { exitStatus, messageOf, SvcError } from '../../runtime/errors.ts';
import { createAgent } from '../../runtime/net/http-client/agent.ts';
import { createCredentialPlugin } from './credential-plugin.ts';
import { environmentProxy } from './environment-proxy.ts';
import { type KubeconfigCluster, type KubeconfigUser, readKubeconfig } from './kubeconfig-files.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The current context of kubeconfig files, as kubectl reads them. The Kubernetes client handles all kinds of
 * authentication, but costs 30 MiB, so it is not loaded in a pod.
 * @throws SvcError (exit 78) for an unusable file
 */
export async function kubeconfigConnection(
  paths: readonly string[],
  env: Environment,
): Promise<KubeConnection> {
  const origin = paths.join(':');
  let login = await openLogin(paths, env);
  const pool = createAgentPool(login.server.protocol);
  let current: KubeCredentials | undefined;
  let asking: Promise<KubeCredentials> | undefined;
  const ask = async (anew: boolean): Promise<KubeCredentials> => {
    if (anew) login = await openLogin(paths, env);
    const made = await login.credentials(pool);
    if (!isDeepStrictEqual(made.headers, current?.headers) || made.agent !== current?.agent) current = made;
    return current;
  };
  return {
    server: login.server,
    origin,
    credentials(refused) {
      const anew = refused !== undefined && refused === current;
      if (anew) current = undefined;
      if (asking !== undefined && !anew) return asking;
      // shared, because a plugin may ask somebody to log in
      const own = ask(anew).finally(() => {
        if (asking === own) asking = undefined;
      });
      asking = own;
      return own;
    },
    close: () => pool.close(),
  };
}

interface Login {
  readonly server: URL;
  credentials(pool: AgentPool): Promise<KubeCredentials>;
}

async function openLogin(paths: readonly string[], env: Environment): Promise<Login> {
  const origin = paths.join(':');
  const context = await readKubeconfig(paths);
  const { server } = context;
  // without TLS, kubectl sends no credentials
  const user: KubeconfigUser = server.protocol === 'http:' ? { as: context.user.as } : context.user;
  const proxy = context.cluster['proxy-url'] || environmentProxy(server, env);
  const cluster = { ...context.cluster, 'proxy-url': proxy };
  const config = await libraryConfig(cluster, user, server);
  const plugin = user.exec && !hasCredentials(user) && (await createCredentialPlugin(user.exec, cluster));
  return {
    server,
    async credentials(pool) {
      const options: RequestOptions = {};
      if (plugin) await plugin.apply(options);
      await config.applyToHTTPSOptions(options).catch((cause: unknown) => {
        throw noCredentials(`The kubeconfig ${origin}`, cause);
      });
      const headers = { ...headersOf(options), ...(await fileToken(user)), ...impersonation(context.user) };
      const own = proxy ? options.agent : undefined;
      return { headers, agent: typeof own === 'object' ? own : pool.agentFor(tlsOf(options)) };
    },
  };
}

/** Alone with what the context names. A user without members gets the cluster's CA, which no user at all does not. */
async function libraryConfig(cluster: KubeconfigCluster, user: KubeconfigUser, server: URL) {
  const { KubeConfig } = await import('@kubernetes/client-node/dist/config.js');
  const config = new KubeConfig();
  const name = 'current';
  // the library refuses servers without TLS that are to be verified
  const lax = server.protocol === 'http:' ? { 'insecure-skip-tls-verify': true } : {};
  const document = {
    ...{ 'current-context': name, contexts: [{ name, context: { cluster: name, user: name } }] },
    clusters: [{ name, cluster: { ...cluster, ...lax } }],
    users: [{ name, user: { ...user, exec: undefined } }],
  };
  config.loadFromString(JSON.stringify(document));
  return config;
}

/** These override a plugin. */
function hasCredentials(user: KubeconfigUser): boolean {
  const { token, tokenFile, username } = user;
  return Boolean(
    token || tokenFile || username || user['client-certificate'] || user['client-certificate-data'],
  );
}

/** Read for each request, because it rotates. */
async function fileToken({ token, tokenFile }: KubeconfigUser): Promise<Record<string, string>> {
  if (!tokenFile) return {};
  try {
    return { authorization: `Bearer ${(await readFile(tokenFile, 'utf8')).trim()}` };
  } catch (cause) {
    if (token) return {};
    throw noCredentials(`The token file ${tokenFile} of the kubeconfig`, cause);
  }
}

function noCredentials(source: string, cause: unknown): SvcError {
  return new SvcError('KUBE_CONFIG', `${source} gives no credentials: ${messageOf(cause)}`, {
    cause,
    exitStatus: exitStatus.config,
    nextStep: 'Check KUBECONFIG with kubectl config view.',
  });
}

/** Beside the name, which the library sends. */
function impersonation(user: KubeconfigUser): OutgoingHttpHeaders {
  const extra = Object.entries(user['as-user-extra'] ?? {});
  return {
    ...(user['as-uid'] && { 'impersonate-uid': user['as-uid'] }),
    ...(user['as-groups'] && { 'impersonate-group': user['as-groups'] }),
    ...Object.fromEntries(
      extra.map(([name, values]) => [`impersonate-extra-${encodeURIComponent(name)}`, values]),
    ),
  };
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
   * Credentials for the next request; they rotate. May wait for somebody who logs in.
   * @param refused credentials that were answered with 401
   * @throws SvcError if they cannot be read
   */
  credentials(refused?: KubeCredentials): Promise<KubeCredentials>;
  close(): void;
}

export interface KubeCredentials {
  /** Headers for the request, including its authorization. */
  readonly headers: Readonly<OutgoingHttpHeaders>;
  /** Holds the connections, with client certificate and trusted CA. */
  readonly agent: Agent;
}

const keepAlive = { keepAlive: true, keepAliveMsecs: 15_000 };

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
        current = { tls, agent: createAgent(protocol, { ...keepAlive, ...tls }) };
      }
      return current.agent;
    },
    close: () => current?.agent.destroy(),
  };
}

/** Does not interrupt requests in progress, such as a watch. */
function retire(agent: Agent | undefined): void {
  if (agent === undefined) return;
  agent.maxFreeSockets = 0;
  for (const sockets of Object.values(agent.freeSockets))
    for (const socket of sockets ?? []) socket.destroy();
}
