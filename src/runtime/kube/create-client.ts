import type { IncomingMessage } from 'node:http';
import type { KubeClient, KubeRequest } from './client.ts';
import type { KubeConnection } from './connection.ts';
import { KubeError } from './errors.ts';
import { exchange, unreachable } from './exchange.ts';
import { failureOf } from './failure.ts';
import { findKubeConnection } from './find-connection.ts';
import { parseJson, readBody } from './read-body.ts';

const defaultTimeoutMs = 30_000;
const largestAnswer = 64 * 1024 * 1024;
const largestFailure = 64 * 1024;

/**
 * A client for the API server that the environment names, see `findKubeConnection`.
 * @returns undefined where it names none
 * @throws SvcError (exit 78) when a kubeconfig cannot be used
 */
export async function createKubeClient(
  env: Readonly<Record<string, string | undefined>>,
): Promise<KubeClient | undefined> {
  const connection = await findKubeConnection(env);
  return connection && kubeClientOver(connection);
}

export function kubeClientOver(connection: KubeConnection): KubeClient {
  const read: KubeClient['read'] = (request, use) =>
    within(request, async (signal) => {
      const answer = await opened(connection, request, signal);
      return use(bodyOf(answer, connection, signal));
    });
  return {
    server: connection.server.href,
    origin: connection.origin,
    async request<T>(request: KubeRequest) {
      const what = described(request);
      const text = await read(request, (body) => readBody(what, body, request.maxBytes ?? largestAnswer));
      return parseJson(what, text) as T;
    },
    read,
    async stream(request) {
      const controller = new AbortController();
      const forget = follow(request.signal, controller);
      const answer = await within(request, () => opened(connection, request, controller.signal), controller);
      answer.once('close', forget);
      return answer;
    },
    close: () => connection.close(),
  };
}

/** A refused credential is read again, once. @throws KubeError unless the answer is a success */
async function opened(
  connection: KubeConnection,
  request: KubeRequest,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  for (const refused of [false, true]) {
    const credentials = await connection.credentials(refused);
    if (request.leading?.() === false)
      throw new KubeError('KUBE_NOT_LEADING', `${described(request)}: not sent, another replica may lead`);
    const answer = await exchange(connection, credentials, request, signal);
    const status = answer.statusCode ?? 0;
    if (status >= 200 && status < 300) return answer;
    const what = described(request);
    const body = await readBody(what, bodyOf(answer, connection, signal), largestFailure);
    if (status !== 401 || refused) throw failureOf(what, status, body, answer.headers['retry-after']);
  }
  throw new KubeError('KUBE_DENIED', `${described(request)}: 401`, { status: 401 });
}

/** A connection that is lost within a body is the server's absence, too. */
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

/** Bounds the work in time, and by the caller's signal. */
async function within<T>(
  request: KubeRequest,
  work: (signal: AbortSignal) => Promise<T>,
  controller = new AbortController(),
): Promise<T> {
  request.signal?.throwIfAborted();
  const { timeoutMs = defaultTimeoutMs } = request;
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

/** Aborts the controller when the signal is; returns what ends that. */
function follow(signal: AbortSignal | undefined, controller: AbortController): () => void {
  const abort = () => controller.abort(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  return () => signal?.removeEventListener('abort', abort);
}

function described({ method = 'GET', path }: KubeRequest): string {
  return `${method} ${path}`;
}
