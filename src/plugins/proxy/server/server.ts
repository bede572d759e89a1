import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Socket } from 'node:net';
import { type HeldMemory, type MemoryBudget, memoryCosts } from '../../../objects/held-memory.ts';
import { errorXml, type S3Error, s3Error } from '../../../objects/s3/error.ts';
import { hasBody } from '../../../objects/s3/received-payload.ts';
import { exitStatus, SvcError } from '../../../runtime/errors.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import type { Connections } from '../../../runtime/net/connections.ts';
import { joinSmallPieces } from '../../../runtime/net/join-small-pieces.ts';
import { listenAt } from '../../../runtime/net/listen.ts';
import { formatListenAddress } from '../../../runtime/settings/listen-address.ts';
import type { ProxyConfig } from '../config.ts';
import type { Dispatch } from './dispatch.ts';
import { Turns } from './turns.ts';

/**
 * No request timeout, because uploads may take long; readers and writers detect stalls themselves. Connections are kept
 * open longer than client pools keep them, so that the client closes first.
 */
const limits = {
  requestTimeout: 0,
  headersTimeout: 60_000,
  keepAliveTimeout: 120_000,
  connectionsCheckingInterval: 10_000,
  maxHeaderSize: 16 * 1024,
  highWaterMark: 64 * 1024,
  noDelay: true,
} as const;

/**
 * The store takes 8 KiB of head, and 2 KiB of metadata. `node:http` would leave out headers beyond its limit, so one more
 * is let through, and refused.
 */
const maxHeaders = 128;

/** Connections queued in the kernel. */
const listenBacklog = 1_024;

export interface S3Server {
  /** The actual address, including the port. */
  readonly address: string;
  /** Stops accepting connections; resolves once requests in flight have been answered. */
  drain(): Promise<void>;
}

export interface ServerParts {
  readonly dispatch: Dispatch;
  readonly connections: Connections;
  /** Bounds the heads of requests. */
  readonly memory: MemoryBudget;
  readonly log: Logger;
  /** Stops watching the certificate files. */
  readonly signal: AbortSignal;
}

/** @throws SvcError PROXY_ADDRESS (exit 78) if the address is not available */
export async function startServer(
  { listen, tls }: Pick<ProxyConfig, 'listen' | 'tls'>,
  { dispatch, connections, memory, log, signal }: ServerParts,
): Promise<S3Server> {
  const turns = new Turns();
  const serve = (expectsContinue: boolean) => (request: IncomingMessage, response: ServerResponse) => {
    if (!connections.begin(request.socket, response)) return;
    if (request.rawHeaders.length > 2 * maxHeaders)
      return endWith(request.socket, s3Error('RequestHeaderSectionTooLarge'));
    const head = takeMemory(request, response, memory);
    if (head === undefined) {
      connections.endStale();
      return endWith(request.socket, s3Error('SlowDown'));
    }
    if (hasBody(request.headers)) joinSmallPieces(request);
    turns.take(() => response.destroyed || void dispatch(request, response, expectsContinue, head));
  };
  // loaded on demand
  const { createTlsServer, followTlsFiles } = tls ? await import('./tls-listener.ts') : {};
  const overTls = tls && createTlsServer?.(tls, limits, serve(false));
  const server: Server = overTls ?? createServer(limits, serve(false));
  server.on('checkContinue', serve(true));
  server.maxHeadersCount = maxHeaders + 1;
  connections.guard(server);
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) =>
    answerClientError(error, socket),
  );
  const address = await listenAt(server, listen, (cause) => refused(listen, cause), listenBacklog);
  if (overTls) followTlsFiles?.(tls, { server: overTls, log, signal });
  return { address, drain: () => drain(server, connections) };
}

function refused(listen: ProxyConfig['listen'], cause: NodeJS.ErrnoException): SvcError {
  const why = cause.code === 'EADDRINUSE' ? 'is taken by another process' : `cannot be used (${cause.code})`;
  return new SvcError('PROXY_ADDRESS', `The address ${formatListenAddress(listen)} ${why}`, {
    nextStep: 'Give another address with --listen or SVC_PROXY_LISTEN; port 0 takes a free one.',
    exitStatus: exitStatus.config,
    cause,
  });
}

function drain(server: Server, connections: Connections): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    connections.close();
  });
}

/** `node:http` keeps the current response in this field. */
interface HttpSocket extends Socket {
  readonly _httpMessage?: ServerResponse;
}

/**
 * Takes memory for a request until its response has ended.
 * @returns that of its head, which may be released earlier; undefined if there is none
 */
function takeMemory(
  { rawHeaders, url = '' }: IncomingMessage,
  response: ServerResponse,
  memory: MemoryBudget,
): HeldMemory | undefined {
  let bytes = url.length;
  for (const text of rawHeaders) bytes += text.length;
  const cost = (rawHeaders.length / 2) * memoryCosts.header + bytes * memoryCosts.headByte;
  const [request, head] = [memory.hold('requests'), memory.hold('heads')];
  response.once('close', () => {
    request.release();
    head.release();
  });
  return request.tryTake(memoryCosts.request) && head.tryTake(cost) ? head : undefined;
}

/**
 * Answers input that is not HTTP: malformed heads, broken chunked framing, heads that never end. Closing the socket
 * also ends the request being served on it.
 */
function answerClientError(error: NodeJS.ErrnoException, socket: HttpSocket): void {
  if (error.code === 'ECONNRESET') socket.destroy();
  else endWith(socket, errorFor(error.code));
}

/**
 * Answers what is not dispatched, and closes the connection without reading on. Nothing is answered if another response
 * has begun, or is due to a request that has arrived whole: its caller would take the answer for that one.
 */
function endWith(socket: HttpSocket, error: S3Error): void {
  const current = socket._httpMessage;
  if (!socket.writable || current?.headersSent || current?.req.complete) {
    socket.destroy();
    return;
  }
  const body = errorXml(error, { resource: '', requestId: '' });
  socket.end(
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\nConnection: close\r\nContent-Type: application/xml\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    () => socket.destroy(),
  );
}

function errorFor(code: string | undefined) {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return s3Error('RequestTimeout');
  if (code === 'HPE_HEADER_OVERFLOW') return s3Error('RequestHeaderSectionTooLarge');
  if (code === 'HPE_INVALID_EOF_STATE') return s3Error('IncompleteBody');
  return s3Error('InvalidRequest', 'The request is not well-formed HTTP.');
}
