import type { ListenAddress } from '../../../core/settings/listen-address.ts';
import type { Health } from '../../../runtime/health/health.ts';
import type { Metrics } from '../../../runtime/health/metrics.ts';
import { untilAborted } from '../../../runtime/lifecycle/until-aborted.ts';
import { describeError } from '../../../runtime/logging/describe-error.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import type { Leadership, NodeReports } from '../contract.ts';
import { createAnswer } from './answer.ts';
import type { NodeCertificates } from './certificates.ts';
import { createGrpcEndpoint, type GrpcEndpoint } from './grpc-endpoint.ts';
import { type BookLimits, usualLimits } from './node-book.ts';
import { createNodeMetrics } from './node-metrics.ts';
import type { NodeTokens } from './node-tokens.ts';
import { NodeWatch } from './node-watch.ts';
import { listenForNodes, type TlsListener } from './tls-listener.ts';

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
  readonly limits?: Partial<BookLimits>;
  /** In milliseconds, of a clock that only goes forward. */
  readonly now?: () => number;
}

export interface NodeChannel extends NodeReports {
  /** Called with the name of a node of which another thing is known, or nothing any more; it must not throw. */
  onChange(handle: (node: string) => void): void;
  /** Where it listens, with the port that it got. */
  readonly address: string;
  /** Resolves when the signal was aborted and all connections have ended; never rejects. */
  readonly closed: Promise<void>;
}

const condition = 'node-channel-certificates';
/** What is under way on a connection is answered at once; this is for the answer to leave. */
const graceMs = 2_000;

/**
 * Takes the reports of node agents while this replica leads.
 * @throws SvcError NODE_CHANNEL_ADDRESS (exit 78) where the address cannot be had; Error when the certificates do not fit
 */
export async function startNodeChannel(options: NodeChannelOptions): Promise<NodeChannel> {
  const { address, certificates, leadership, tokens, log, signal, now = () => performance.now() } = options;
  const limits = { ...usualLimits, ...options.limits };
  const metrics = createNodeMetrics(options.metrics);
  const watch = new NodeWatch({ limits, now, log, metrics, leadership });
  const endpoint = await createGrpcEndpoint(createAnswer({ watch, leadership, tokens, metrics, log }));
  const listener = await listenForNodes(address, certificates, endpoint.serve);
  certificates.onChange(() => renew(listener, endpoint, options));
  log.info('nodes.listening', { address: listener.address });
  return {
    agentOf: (node) => watch.book.agentOf(node),
    agents: () => watch.book.agents(),
    onChange: (handle) => watch.onChange(handle),
    address: listener.address,
    closed: ended(listener, endpoint, watch, signal),
  };
}

/** Agents come back over new connections, so that none stays whose certificate would be refused now. */
function renew(listener: TlsListener, endpoint: GrpcEndpoint, options: NodeChannelOptions): void {
  const { signal, log, health } = options;
  if (signal.aborted) return;
  try {
    listener.renew();
    endpoint.retire(graceMs);
    health.recovered(condition);
    log.info('nodes.certificates_renewed');
  } catch (error) {
    health.degraded(condition, 'new certificates cannot be used; the former ones serve on');
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
  const closed = listener.close(graceMs);
  endpoint.retire(graceMs);
  await closed;
}
