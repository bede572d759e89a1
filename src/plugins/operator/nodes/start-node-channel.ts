import { createSecureContext, createServer } from 'node:tls';
import { BoundedMap } from '../../../runtime/bounds/bounded-map.ts';
import { exitStatus, SvcError } from '../../../runtime/errors.ts';
import type { Health, Metrics } from '../../../runtime/health/health.ts';
import { untilAborted } from '../../../runtime/lifecycle/wait.ts';
import { describeError, type Logger } from '../../../runtime/logging/logger.ts';
import { RateLimitedLog } from '../../../runtime/logging/rate-limited-log.ts';
import { interceptAccepted, resetSocket } from '../../../runtime/net/accepted-sockets.ts';
import { Connections } from '../../../runtime/net/connections.ts';
import { listenAt } from '../../../runtime/net/listen.ts';
import { tlsContextLimits, tlsLimits } from '../../../runtime/net/tls-limits.ts';
import { formatListenAddress, type ListenAddress } from '../../../runtime/settings/listen-address.ts';
import { CallerMemory, connectionsIn } from '../caller-memory.ts';
import type { Leadership, NodeReports } from '../contract.ts';
import { createGrpcEndpoint, type GrpcEndpoint } from './grpc-endpoint.ts';
import { defaultLimits, type NodeRegistryLimits } from './node-registry.ts';
import type { NodeTokens } from './node-tokens.ts';
import { createNodeMetrics, NodeWatch } from './node-watch.ts';
import { createAnswer } from './report-endpoint.ts';

export interface NodeChannelOptions {
  readonly address: ListenAddress;
  readonly certificates: NodeCertificates;
  readonly leadership: Leadership;
  readonly tokens: NodeTokens;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly health: Pick<Health, 'degraded' | 'recovered'>;
  /** Ends the channel. */
  readonly signal: AbortSignal;
  readonly limits?: Partial<NodeRegistryLimits>;
  /** Maximum number; default: what the container's memory allows. */
  readonly connections?: number;
  /** Shared with the reviews of the webhook. */
  readonly memory?: CallerMemory;
  /** In milliseconds, monotonic. */
  readonly now?: () => number;
}

export interface NodeChannel extends NodeReports {
  /** Called with the name of a node whose state has changed or become unknown; must not throw. */
  onChange(handle: (node: string) => void): void;
  /** The address that it listens on, with the actual port. */
  readonly address: string;
  /** Resolves when the signal was aborted and all connections have ended; never rejects. */
  readonly closed: Promise<void>;
}

const condition = 'node-channel-certificates';
/** Time to send responses; requests in progress are answered at once. */
const graceMs = 2_000;
/** How long nothing is accepted from an address that sent cheap frames without end: two intervals of reports. */
const keptOutMs = 30_000;
const maxKeptOut = 1_000;
const floodLines = { burst: 5, everyMs: 60_000 };

/**
 * Receives the reports of node agents while this replica leads.
 * @throws SvcError NODE_CHANNEL_ADDRESS (exit 78) if it cannot listen there; Error if the certificates do not match
 */
export async function startNodeChannel(options: NodeChannelOptions): Promise<NodeChannel> {
  const { address, certificates, leadership, tokens, log, signal, now = () => performance.now() } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const metrics = createNodeMetrics(options.metrics);
  const watch = new NodeWatch({ limits, now, log, metrics, leadership });
  const { connections = connectionsIn(process.constrainedMemory()) } = options;
  const { memory = new CallerMemory(connections) } = options;
  const answer = createAnswer({ watch, leadership, tokens, metrics, log });
  const keptOut = new BoundedMap<string, true>(maxKeptOut, { age: { mostMs: keptOutMs, now } });
  const limitedLog = new RateLimitedLog(log, floodLines, now);
  const endpoint = await createGrpcEndpoint({
    ...{ answer, memory: memory.reports },
    onFlood(peer) {
      keptOut.set(peer, true);
      limitedLog.warn('nodes.flooded', (leftOut) => ({ peer, linesLeftOut: leftOut || undefined }));
    },
  });
  const isLetIn = (peer: string) => keptOut.peek(peer) === undefined;
  const listener = await listenForNodes(address, certificates, endpoint, { connections, memory, isLetIn });
  certificates.onChange(() => renew(listener, endpoint, options));
  log.info('nodes.listening', { address: listener.address });
  return {
    agentOf: (node) => watch.registry.agentOf(node),
    agents: () => watch.registry.agents(),
    onChange: (handle) => watch.onChange(handle),
    address: listener.address,
    closed: ended(listener, endpoint, watch, signal),
  };
}

/** Retires connections, so that none stays whose certificate would be refused now; agents reconnect. */
function renew(listener: TlsListener, endpoint: GrpcEndpoint, options: NodeChannelOptions): void {
  const { signal, log, health } = options;
  if (signal.aborted) return;
  try {
    listener.renew();
    endpoint.retire(graceMs);
    health.recovered(condition);
    log.info('nodes.certificates_renewed');
  } catch (error) {
    health.degraded(condition, 'new certificates cannot be used; the former ones keep serving');
    log.error('nodes.certificates_refused', describeError(error));
  }
}

async function ended(
  listener: TlsListener,
  endpoint: GrpcEndpoint,
  watch: NodeWatch,
  signal: AbortSignal,
): Promise<void> {
  await untilAborted(signal);
  watch.end();
  // first, because it tells the agents
  endpoint.retire(graceMs);
  await listener.close(graceMs);
}

/** A call that stands still may be ended for the sake of another connection after `staleMs`. */
const bounds = { handshakes: 256, staleMs: 2_000, shared: true };

interface ListenerOptions {
  /** Maximum number. */
  readonly connections: number;
  readonly memory: CallerMemory;
  /** Asked with the address of a connection before its handshake. */
  readonly isLetIn: (peer: string) => boolean;
}

interface TlsListener {
  /** With the actual port. */
  readonly address: string;
  /** Uses the current certificates for new connections. @throws Error, without any change, if they do not match */
  renew(): void;
  /** Stops accepting. Resolves when the existing connections have ended; they are cut after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

/**
 * Accepts connections with a certificate of the agents' authorities.
 * @throws SvcError NODE_CHANNEL_ADDRESS (exit 78) if it cannot listen there; Error if the certificates do not match
 */
async function listenForNodes(
  at: ListenAddress,
  certificates: NodeCertificates,
  endpoint: GrpcEndpoint,
  { connections: most, memory, isLetIn }: ListenerOptions,
): Promise<TlsListener> {
  const hold = () => memory.holdConnection();
  const connections = new Connections({ ...bounds, connections: most, hold });
  memory.onNeeded(() => connections.endOne());
  const server = createServer(
    {
      ...materialOf(certificates),
      ...{ requestCert: true, rejectUnauthorized: true, ALPNProtocols: ['h2'], ...tlsLimits },
    },
    (socket) => {
      // agents may disconnect at any time
      socket.on('error', () => {});
      endpoint.serve(socket, (call) => connections.begin(socket, call));
    },
  );
  connections.guard(server);
  const letIn = interceptAccepted(server, (socket) => {
    if (isLetIn(socket.remoteAddress ?? '')) letIn(socket);
    else resetSocket(socket);
  });
  // a connection that fails in its handshake, or does not end it in time, concerns only the caller
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  const address = await listenAt(server, at, (cause) => refused(at, cause));
  return {
    address,
    renew() {
      const material = materialOf(certificates);
      createSecureContext(material);
      server.setSecureContext(material);
    },
    close(graceMs) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      connections.close(graceMs);
      return closed;
    },
  };
}

/** Without authorities Node would trust the system's. */
function materialOf(certificates: NodeCertificates) {
  const { key, cert } = certificates.current();
  const ca = certificates.clientAuthorities();
  if (!ca.includes('-----BEGIN CERTIFICATE-----')) throw new Error('there are no authorities for agents');
  return { key, cert, ca, ...tlsContextLimits };
}

function refused(at: ListenAddress, cause: NodeJS.ErrnoException): SvcError {
  const why = cause.code === 'EADDRINUSE' ? 'is taken by another process' : `cannot be used (${cause.code})`;
  return new SvcError(
    'NODE_CHANNEL_ADDRESS',
    `The address for node agents, ${formatListenAddress(at)}, ${why}`,
    {
      nextStep: 'Give another address by SVC_OPERATOR_GRPC_ADDR.',
      exitStatus: exitStatus.config,
      cause,
    },
  );
}

/** The part of the operator's certificates that the node channel uses. */
interface NodeCertificates {
  /** PEM: the server's key, and its certificate with the chain. */
  current(): { readonly key: string; readonly cert: string };
  /** PEM: authorities that agents' certificates are verified against. */
  clientAuthorities(): string;
  /** Called after each change of either. */
  onChange(handle: () => void): void;
}
