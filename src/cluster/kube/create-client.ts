import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { certificateErrorCode, exitStatus, SvcError } from '../../runtime/errors.ts';
import { sleep, unlessAborted } from '../../runtime/lifecycle/wait.ts';
import { secrets } from '../../runtime/logging/secrets.ts';
import { limitAnswer } from '../../runtime/net/limit-answer.ts';
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
const largestFailure = 64 * 1024;
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
  const read: KubeClient['read'] = async (request, use) => {
    const credentials = await credentialsFor(connection, request);
    return within(request, async (signal) => {
      const answer = await opened(connection, credentials, request, signal);
      return use(bodyOf(answer, connection, signal));
    });
  };
  return {
    server: connection.server.href,
    origin: connection.origin,
    async request<T>(request: KubeRequest) {
      const what = described(request);
      const bytes = await read(request, (body) => readBytes(what, body, request.maxBytes ?? largestObject));
      return parseJson(what, bytes) as T;
    },
    read,
    async stream(request) {
      const credentials = await credentialsFor(connection, request);
      const controller = new AbortController();
      const forget = follow(request.signal, controller);
      const open = () => opened(connection, credentials, request, controller.signal);
      const answer = await within(request, open, controller);
      answer.once('close', forget);
      return answer;
    },
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
 * @throws KubeError unless successful
 */
async function opened(
  connection: KubeConnection,
  first: KubeCredentials,
  request: KubeRequest,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const end = performance.now() + timeoutOf(request);
  let credentials = first;
  let renewed = false;
  for (let waits = 0; ; ) {
    if (request.leading?.() === false)
      throw new KubeError('KUBE_NOT_LEADING', `${described(request)}: not sent, another replica may lead`);
    const answer = await exchange(connection, credentials, request, signal);
    const status = answer.statusCode ?? 0;
    if (status >= 200 && status < 300) return answer;
    const what = described(request);
    const body = await readBody(what, bodyOf(answer, connection, signal), largestFailure);
    const failure = failureOf(what, status, body, answer.headers['retry-after']);
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

/** Losing the connection within a body also counts as an unavailable server. */
async function* bodyOf(
  answer: IncomingMessage,
  { server }: KubeConnection,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  try {
    yield* answer as AsyncIterable<Buffer>;
  } catch (error) {
    throw signal.aborted ? signal.reason : unreachable(server, error);
  }
}

/** Limits work by a timeout and the caller's signal. */
async function within<T>(
  request: KubeRequest,
  work: (signal: AbortSignal) => Promise<T>,
  controller = new AbortController(),
): Promise<T> {
  request.signal?.throwIfAborted();
  const timeoutMs = timeoutOf(request);
  const late = new KubeError('KUBE_UNAVAILABLE', `${described(request)}: no answer within ${timeoutMs} ms`);
  const timer = setTimeout(() => controller.abort(late), timeoutMs);
  const forget = follow(request.signal, controller);
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    forget();
  }
}

/** Aborts the controller together with the signal. @returns a function that stops following */
function follow(signal: AbortSignal | undefined, controller: AbortController): () => void {
  const abort = () => controller.abort(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  return () => signal?.removeEventListener('abort', abort);
}

const timeoutOf = ({ timeoutMs = defaultTimeoutMs }: KubeRequest): number => timeoutMs;

function described({ method = 'GET', path }: KubeRequest): string {
  return `${method} ${path}`;
}

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

/** Sends one request and resolves with the response head, whatever its status. @throws KubeError KUBE_UNAVAILABLE */
export function exchange(
  { server }: KubeConnection,
  { headers, agent }: KubeCredentials,
  request: KubeRequest,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const send = server.protocol === 'https:' ? https.request : http.request;
  const body = request.body === undefined ? undefined : JSON.stringify(request.body);
  const { method = 'GET' } = request;
  return new Promise((resolve, reject) => {
    const options = { method, agent, signal, headers: { ...headersFor(request, body), ...headers } };
    const outgoing = limitAnswer(send(addressOf(server, request), options));
    outgoing.once('response', resolve);
    outgoing.on('error', (cause) => reject(signal.aborted ? signal.reason : unreachable(server, cause)));
    outgoing.end(body);
  });
}

function addressOf(server: URL, { path, query = {} }: KubeRequest): URL {
  const url = new URL(server);
  url.pathname = server.pathname.replace(/\/+$/, '') + path;
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  return url;
}

function headersFor(request: KubeRequest, body: string | undefined): http.OutgoingHttpHeaders {
  const { accept = 'application/json', contentType = 'application/json' } = request;
  const common = { accept, 'user-agent': 'svc' };
  if (body === undefined) return common;
  return { ...common, 'content-type': contentType, 'content-length': Buffer.byteLength(body) };
}

function unreachable(server: URL, cause: unknown): KubeError {
  const { code, message } = cause as NodeJS.ErrnoException;
  const reason = message || code;
  return certificateErrorCode(cause) === undefined
    ? new KubeError('KUBE_UNAVAILABLE', `The API server ${server.origin} does not answer: ${reason}`, {
        cause,
      })
    : new KubeError('KUBE_UNTRUSTED', `The API server ${server.origin} is not trusted: ${reason}`, { cause });
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
