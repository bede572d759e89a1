import http, {
  type Agent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
} from 'node:http';
import https from 'node:https';
import { certificateErrorCode } from '../../errors.ts';
import { unlessAborted } from '../../lifecycle/wait.ts';
import { bareHost, serverNameOf } from '../host-names.ts';
import { limitAnswer } from './limit-answer.ts';

/** Bytes of the head of a response, and of its trailers. */
const maxHeaderSize = 16 * 1024;

export interface HttpRequest {
  readonly url: URL;
  /** Encoded path and query in place of those of the URL, sent as they are. */
  readonly path?: string;
  /** Default: GET. */
  readonly method?: string | undefined;
  /** In addition to `User-Agent: svc` and the length of the body. */
  readonly headers?: Readonly<OutgoingHttpHeaders>;
  readonly body?: string | undefined;
  /** Of `createAgent`; false for a connection of its own. */
  readonly agent: Agent | false;
  /** Ends the request and its response, whatever they wait for. */
  readonly signal: AbortSignal;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /**
   * As it arrives, of any length (`collect` bounds it); leaving it early closes the connection.
   * @throws RequestError; the signal's reason when aborted
   */
  readonly body: AsyncIterable<Buffer>;
  /** The same as a stream, which fails with errors of Node. */
  readonly incoming: IncomingMessage;
  /**
   * Reads the whole body without a copy of it, so that `take` may zero what it was given. An error of `take` ends it.
   * @throws RequestError; the signal's reason when aborted
   */
  eachPiece(take: (piece: Buffer) => void): Promise<void>;
}

/**
 * The client for servers that are asked seldom or little: API server, registries, pods, and the key server but for keys.
 * Redirects are not followed. What a response costs its parser is bounded.
 * @returns any response, once its head is there
 * @throws RequestError; the signal's reason when aborted
 */
export function sendRequest(request: HttpRequest): Promise<HttpResponse> {
  const { url, path, method, headers, body, agent, signal } = request;
  const send = url.protocol === 'https:' ? https.request : http.request;
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
  const options = {
    ...(path === undefined ? {} : { path }),
    method,
    agent,
    signal,
    maxHeaderSize,
    servername: serverNameOf(bareHost(url)),
    headers: { 'user-agent': 'svc', ...headers, ...length },
  };
  const response = new Promise<HttpResponse>((resolve, reject) => {
    const outgoing = limitAnswer(send(url, options));
    outgoing.once('response', (incoming) => resolve(responseOf(incoming, signal)));
    outgoing.on('error', (cause) => reject(reasonOf(cause, signal)));
    outgoing.end(body);
  });
  // Node tells a request that waits for a connection only when it is its turn
  return unlessAborted(response, signal);
}

function responseOf(incoming: IncomingMessage, signal: AbortSignal): HttpResponse {
  const { statusCode: status = 0, headers } = incoming;
  return {
    ...{ status, headers, incoming, body: bodyOf(incoming, signal) },
    eachPiece: (take) =>
      new Promise((resolve, reject) => {
        const each = (piece: Buffer) => {
          try {
            take(piece);
          } catch (error) {
            incoming.off('data', each).destroy(error as Error);
          }
        };
        incoming.on('data', each).once('end', resolve);
        incoming.once('error', (cause) => {
          incoming.off('data', each);
          reject(reasonOf(cause, signal));
        });
      }),
  };
}

async function* bodyOf(incoming: IncomingMessage, signal: AbortSignal): AsyncGenerator<Buffer> {
  try {
    yield* incoming as AsyncIterable<Buffer>;
  } catch (cause) {
    throw reasonOf(cause as Error, signal);
  }
}

function reasonOf(cause: NodeJS.ErrnoException, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  const kind = certificateErrorCode(cause) === undefined ? 'no-answer' : 'untrusted';
  return new RequestError(kind, cause.message || String(cause.code), { cause });
}

/**
 * `untrusted`: the server's certificate is not; `timeout`: the time was over; `no-answer`: there is no connection, it was
 * lost, or the response is no HTTP or takes too much.
 */
export type RequestErrorKind = 'no-answer' | 'untrusted' | 'timeout';

/** Why there is no response, or no whole one. Each user makes an error with a code of it. */
export class RequestError extends Error {
  readonly kind: RequestErrorKind;
  /** Of Node or OpenSSL: `ECONNREFUSED`. */
  readonly code: string | undefined;

  constructor(kind: RequestErrorKind, message: string, options: { readonly cause?: Error } = {}) {
    super(message, options);
    this.kind = kind;
    this.code = (options.cause as NodeJS.ErrnoException | undefined)?.code;
  }
}

export interface TimeLimit {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Limits one request or several by a time and the caller's signal.
 * @param work has to end with the reason of its signal
 * @throws RequestError `timeout`; the caller's reason; errors of `work`
 */
export async function withinTime<T>(
  { timeoutMs, signal }: TimeLimit,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const late = () => new RequestError('timeout', `no complete answer within ${timeoutMs} ms`);
  const timer = setTimeout(() => controller.abort(late()), timeoutMs);
  const abort = () => controller.abort(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}
