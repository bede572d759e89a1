import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server, type ServerOptions } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { exitStatus, SvcError } from '../../../runtime/errors.ts';
import type { Metrics } from '../../../runtime/health/health.ts';
import { sleep as delay, untilAborted } from '../../../runtime/lifecycle/wait.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { RateLimitedLog } from '../../../runtime/logging/rate-limited-log.ts';
import { Connections } from '../../../runtime/net/connections.ts';
import { listenAt } from '../../../runtime/net/listen.ts';
import { tlsContextLimits, tlsLimits } from '../../../runtime/net/tls-limits.ts';
import { formatListenAddress, type ListenAddress } from '../../../runtime/settings/listen-address.ts';
import type { CallerMemory } from '../caller-memory.ts';
import type { OperatorCertificates, ServerCertificate } from '../certificates/follow-certificates.ts';
import { createCurrentConfigs } from './configs.ts';
import { makeRoom } from './connection-limiter.ts';
import { type DecideDeps, decide } from './decide.ts';
import { createHandler, createWebhookMetrics } from './handler.ts';

export interface WebhookOptions extends Omit<DecideDeps, 'current'> {
  readonly address: ListenAddress;
  readonly certificates: OperatorCertificates;
  /** PEM of the authorities of the API servers' client certificates; undefined accepts every caller. */
  readonly clientAuthorities: string | undefined;
  /** Of a review, in ms. */
  readonly timeoutMs: number;
  /** Shared with the agents' connections. */
  readonly memory: CallerMemory;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

export interface Webhook {
  readonly address: string;
  /** Settles when the last review has been answered after the signal. */
  readonly closed: Promise<void>;
}

/** The Service keeps sending reviews until all nodes know that this replica is ending. */
const lingerTimes = { leastMs: 4_000, quietMs: 3_000, mostMs: 12_000 };
const drainMs = 10_000;

/** Serves the webhook until its signal is aborted. @throws SvcError WEBHOOK_ADDRESS (exit 78) */
export async function startWebhook(options: WebhookOptions): Promise<Webhook> {
  const { certificates, log, metrics, signal } = options;
  const deps = { ...options, current: createCurrentConfigs(options.client) };
  const handle = createHandler({
    decide: (request, limits) => decide(request, deps, limits),
    metrics: createWebhookMetrics(metrics),
    ...{ log, timeoutMs: options.timeoutMs, memory: options.memory },
  });
  const server = await startWebhookServer(options.address, {
    ...{ certificate: certificates.current(), handle, clientAuthorities: options.clientAuthorities },
    onStranger: createUnauthorizedClientLog(log),
  });
  certificates.onChange(() => server.renew(certificates.current()));
  const closed = untilAborted(signal)
    .then(() => server.linger(lingerTimes))
    .then(() => server.drain(drainMs));
  return { address: server.address, closed };
}

const lineAMinute = { burst: 1, everyMs: 60_000 };

/** Logs callers without a certificate of an API server: at most one line a minute. */
export function createUnauthorizedClientLog(every: Logger, now: () => number = () => performance.now()) {
  const log = new RateLimitedLog(every, lineAMinute, now);
  return (address: string | undefined, reason: string): void =>
    log.warn('webhook.stranger', (leftOut) => ({ address, reason, ...(leftOut > 0 && { leftOut }) }));
}

/** Longer than the API server's own 90 s, so that the API server closes idle connections. */
const limits = {
  ...tlsLimits,
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  connectionsCheckingInterval: 5_000,
  keepAliveTimeout: 180_000,
  maxHeaderSize: 16 * 1024,
  noDelay: true,
} as const;

/**
 * Each API server keeps about 25. With twice as many connections, large reviews would exceed the container's memory.
 */
export const mostConnections = 48;
/** In progress on one connection; API servers send one after the other. */
const mostRequests = 8;
/** In the kernel. */
const listenBacklog = 1_024;

export interface WebhookServer {
  readonly address: string;
  /** Uses this certificate for new connections; open ones stay as they are. */
  renew(certificate: ServerCertificate): void;
  /** Keeps serving until no new connections come, and asks callers to close theirs; see `linger` below. */
  linger(times: LingerTimes): Promise<void>;
  /** Stops accepting; resolves when the reviews in flight have been answered, or after `withinMs`. */
  drain(withinMs: number): Promise<void>;
}

export interface WebhookServerOptions {
  readonly certificate: ServerCertificate;
  readonly handle: ReturnType<typeof createHandler>;
  /** PEM of the authorities of permitted callers; undefined permits every caller. */
  readonly clientAuthorities?: string | undefined;
  /** Called for a rejected caller, with its address and Node's error for its certificate. */
  readonly onStranger?: (address: string | undefined, reason: string) => void;
  /** Limit of concurrent connections. */
  readonly most?: number;
}

/** @throws SvcError WEBHOOK_ADDRESS (exit 78) if it cannot listen at the address */
export async function startWebhookServer(
  at: ListenAddress,
  { certificate, handle, clientAuthorities: ca, onStranger, most = mostConnections }: WebhookServerOptions,
): Promise<WebhookServer> {
  const connections = new Connections({ requests: mostRequests });
  const asks = ca !== undefined;
  const options = { ...limits, ...tlsOf(certificate, ca), requestCert: asks, rejectUnauthorized: asks };
  const server = createServer(options, (request, response) => {
    if (connections.begin(request.socket, response)) void handle(request, response);
  });
  connections.guard(server);
  const room = makeRoom(server, most);
  // such as a probe that hangs up within the handshake
  server.on('tlsClientError', (error, socket) => {
    const reason = strangeness(error, socket);
    if (reason !== undefined) onStranger?.(socket.remoteAddress, reason);
    socket.destroy();
  });
  const address = await listenAt(server, at, (cause) => refused(at, cause), listenBacklog);
  return {
    address,
    renew: (next) => server.setSecureContext(tlsOf(next, ca)),
    linger: (times) => linger(server, times),
    drain(withinMs) {
      room.close();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      connections.close(withinMs);
      return closed;
    },
  };
}

function tlsOf({ cert, key }: ServerCertificate, ca: string | undefined): ServerOptions {
  return { cert, key, ca, ...tlsContextLimits };
}

/** The error in the caller's certificate; undefined if its connection failed for another reason. */
function strangeness({ code }: NodeJS.ErrnoException, socket: TLSSocket): string | undefined {
  if (code === 'ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE') return code;
  // a code of OpenSSL, although it is typed as an Error
  const refused = socket.authorizationError as unknown;
  return refused ? String(refused) : undefined;
}

function refused(at: ListenAddress, cause: NodeJS.ErrnoException): SvcError {
  const why = cause.code === 'EADDRINUSE' ? 'is taken by another process' : `cannot be used (${cause.code})`;
  return new SvcError('WEBHOOK_ADDRESS', `The address ${formatListenAddress(at)} ${why}`, {
    nextStep: 'Give another address with --webhook or SVC_OPERATOR_WEBHOOK_ADDR; port 0 takes a free one.',
    exitStatus: exitStatus.config,
    cause,
  });
}

interface LingerTimes {
  /** All in ms. */
  readonly leastMs: number;
  /** After this time without a new connection, the Service no longer sends to this replica. */
  readonly quietMs: number;
  readonly mostMs: number;
}

interface Clock {
  /** In ms; monotonic. */
  now(): number;
  sleep(ms: number): Promise<void>;
}

/**
 * Keeps serving until no more connections arrive. Each response asks the caller to close its connection: the next
 * review goes through the Service again, and to another replica once the Service has removed this one. In a cluster
 * that is slow to remove it, ending after a fixed time would fail reviews.
 */
export async function linger(
  server: Pick<Server, 'on' | 'prependListener'>,
  { leastMs, quietMs, mostMs }: LingerTimes,
  { now, sleep }: Clock = { now: () => performance.now(), sleep: delay },
): Promise<void> {
  const begun = now();
  let dialled = begun;
  server.on('connection', () => {
    dialled = now();
  });
  // before the handler that answers
  server.prependListener('request', (_request: IncomingMessage, response: ServerResponse) => {
    response.setHeader('connection', 'close');
  });
  const leftMs = () => Math.min(begun + mostMs, Math.max(begun + leastMs, dialled + quietMs)) - now();
  for (let left = leftMs(); left > 0; left = leftMs()) await sleep(left);
}
