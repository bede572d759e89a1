import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { addAbortSignal } from 'node:stream';
import { exitStatus, SvcError } from '../../runtime/errors.ts';
import { sleep, unlessAborted } from '../../runtime/lifecycle/wait.ts';
import { secrets } from '../../runtime/logging/secrets.ts';
import {
  type HttpResponse,
  RequestError,
  sendRequest,
  withinTime,
} from '../../runtime/net/http-client/send-request.ts';
import {
  failureOf,
  type KubeClient,
  KubeError,
  type KubeRequest,
  parseJson,
  readBody,
  readBytes,
} from './client.ts';
import {
  createAgentPool,
  type KubeConnection,
  type KubeCredentials,
  kubeconfigConnection,
} from './kubeconfig.ts';
import { largestObject } from './list.ts';

const defaultTimeoutMs = 30_000;
const maxFailureBytes = 64 * 1024;
/** As in kubectl. */
const maxWaits = 10;

/**
 * A client for the API server that the environment names, see `findKubeConnection`.
 * @returns undefined if it names none
 * @throws SvcError (exit 78) for an unusable kubeconfig
 */
export async function createKubeClient(
  env: Readonly<Record<string, string | undefined>>,
): Promise<KubeClient | undefined> {
  const connection = await findKubeConnection(env);
  return connection && kubeClientOver(connection);
}

export function kubeClientOver(connection: KubeConnection): KubeClient {
  const opening = async <T>(request: KubeRequest, use: (response: HttpResponse) => Promise<T> | T) => {
    const credentials = await credentialsFor(connection, request);
    const { signal, timeoutMs = defaultTimeoutMs } = request;
    const end = performance.now() + timeoutMs;
    const work = async (within: AbortSignal) =>
      use(await opened(connection, credentials, request, end, within));
    return withinTime({ timeoutMs, signal }, work).catch((error: unknown) => {
      throw error instanceof RequestError ? unanswered(connection, request, error) : error;
    });
  };
  const read: KubeClient['read'] = (request, use) => opening(request, ({ body }) => use(body));
  return {
    server: connection.server.href,
    origin: connection.origin,
    async request<T>(request: KubeRequest) {
      const what = described(request);
      const bytes = await read(request, (body) => readBytes(what, body, request.maxBytes ?? largestObject));
      return parseJson(what, bytes) as T;
    },
    read,
    stream: (request) =>
      opening(request, ({ incoming }) =>
        request.signal === undefined ? incoming : addAbortSignal(request.signal, incoming),
      ),
    close: () => connection.close(),
  };
}

/** Outside the time of the request, because somebody may have to log in. */
async function credentialsFor(connection: KubeConnection, { signal }: KubeRequest): Promise<KubeCredentials> {
  signal?.throwIfAborted();
  const credentials = connection.credentials();
  return signal === undefined ? credentials : unlessAborted(credentials, signal);
}

/**
 * After a 401 the credentials are read again, once. If the API server asks to wait, and the request's time allows it,
 * the request is sent again after that.
 * @param end of the request's time, by `performance.now()`
 * @throws KubeError unless successful
 */
async function opened(
  connection: KubeConnection,
  first: KubeCredentials,
  request: KubeRequest,
  end: number,
  signal: AbortSignal,
): Promise<HttpResponse> {
  let credentials = first;
  let renewed = false;
  for (let waits = 0; ; ) {
    if (request.leading?.() === false)
      throw new KubeError('KUBE_NOT_LEADING', `${described(request)}: not sent, another replica may lead`);
    const response = await send(connection, credentials, request, signal);
    const { status } = response;
    if (status >= 200 && status < 300) return response;
    const what = described(request);
    const body = await readBody(what, response.body, maxFailureBytes);
    const failure = failureOf(what, status, body, response.headers['retry-after']);
    const { retryAfterMs } = failure;
    if (status === 401 && !renewed) {
      renewed = true;
      credentials = await connection.credentials(first);
    } else if (failure.code === 'KUBE_UNAVAILABLE' && retryAfterMs && waits < maxWaits) {
      if (performance.now() + retryAfterMs > end) throw failure;
      waits++;
      await sleep(retryAfterMs, signal);
    } else throw failure;
  }
}

function send(
  { server }: KubeConnection,
  credentials: KubeCredentials,
  request: KubeRequest,
  signal: AbortSignal,
): Promise<HttpResponse> {
  const { method, accept = 'application/json', contentType = 'application/json' } = request;
  const body = request.body === undefined ? undefined : JSON.stringify(request.body);
  const own = { accept, ...(body !== undefined && { 'content-type': contentType }) };
  const { agent, headers } = credentials;
  const url = addressOf(server, request);
  return sendRequest({ url, method, agent, signal, body, headers: { ...own, ...headers } });
}

function addressOf(server: URL, { path, query = {} }: KubeRequest): URL {
  const url = new URL(server);
  url.pathname = server.pathname.replace(/\/+$/, '') + path;
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  return url;
}

function unanswered({ server }: KubeConnection, request: KubeRequest, error: RequestError): KubeError {
  const { kind, message, cause } = error;
  const { timeoutMs = defaultTimeoutMs } = request;
  if (kind === 'timeout')
    return new KubeError('KUBE_UNAVAILABLE', `${described(request)}: no answer within ${timeoutMs} ms`);
  return kind === 'untrusted'
    ? new KubeError('KUBE_UNTRUSTED', `The API server ${server.origin} is not trusted: ${message}`, { cause })
    : new KubeError('KUBE_UNAVAILABLE', `The API server ${server.origin} does not answer: ${message}`, {
        cause,
      });
}

const described = ({ method = 'GET', path }: KubeRequest): string => `${method} ${path}`;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * `KUBECONFIG`, else the pod's own service account, else `~/.kube/config`.
 * @returns undefined if none of them exists
 * @throws SvcError (exit 78) for an unusable kubeconfig
 */
export async function findKubeConnection(env: Environment): Promise<KubeConnection | undefined> {
  const named = (env['KUBECONFIG'] ?? '').split(':').filter((path) => path !== '');
  if (named.length > 0) return kubeconfigConnection(named, env);
  const own = inClusterConnection(env);
  if (own !== undefined) return own;
  const usual = join(env['HOME'] || '/', '.kube', 'config');
  return existsSync(usual) ? kubeconfigConnection([usual], env) : undefined;
}

export const serviceAccountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * The API server of the cluster that this process runs in; undefined outside a pod. Token and CA are read for each
 * request, because the kubelet replaces both.
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

/** Redacts the token in logs while it is in use. */
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
      nextStep: 'Mount the token into the pod: automountServiceAccountToken must not be false.',
    });
  }
}
