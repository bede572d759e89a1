import type { ListenAddress } from '../../../core/settings/listen-address.ts';
import type { Metrics } from '../../../runtime/health/metrics.ts';
import { untilAborted } from '../../../runtime/lifecycle/until-aborted.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import type { OperatorCertificates } from '../certificates/contract.ts';
import { type DecideDeps, decide } from './decide.ts';
import { createHandler } from './handler.ts';
import { startWebhookServer } from './server.ts';
import { createWebhookMetrics } from './webhook-metrics.ts';

export interface WebhookOptions extends DecideDeps {
  readonly address: ListenAddress;
  readonly certificates: OperatorCertificates;
  /** PEM of the authorities that have issued for the API servers; undefined: whoever reaches it may ask. */
  readonly clientAuthorities: string | undefined;
  /** Of a review, in ms. */
  readonly timeoutMs: number;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

export interface Webhook {
  readonly address: string;
  /** Settles when the last review has been answered after the signal. */
  readonly closed: Promise<void>;
}

/** The Service goes on sending reviews for as long as the nodes have not heard that this replica is going. */
const lingerTimes = { leastMs: 4_000, quietMs: 3_000, mostMs: 12_000 };
const drainMs = 10_000;

/** Serves the webhook until its signal is aborted. @throws SvcError WEBHOOK_ADDRESS (exit 78) */
export async function startWebhook(options: WebhookOptions): Promise<Webhook> {
  const { certificates, log, metrics, signal } = options;
  const handle = createHandler({
    decide: (request, limits) => decide(request, options, limits),
    metrics: createWebhookMetrics(metrics),
    ...{ log, timeoutMs: options.timeoutMs },
  });
  const server = await startWebhookServer(options.address, {
    ...{ certificate: certificates.current(), handle, clientAuthorities: options.clientAuthorities },
    onStranger: createStrangerLog(log),
  });
  certificates.onChange(() => server.renew(certificates.current()));
  const closed = untilAborted(signal)
    .then(() => server.linger(lingerTimes))
    .then(() => server.drain(drainMs));
  return { address: server.address, closed };
}

const everyMs = 60_000;

/** Tells of callers that have no certificate of an API server: a line a minute, however many there are. */
export function createStrangerLog(log: Logger, now: () => number = () => performance.now()) {
  let next = Number.NEGATIVE_INFINITY;
  let leftOut = 0;
  return (address: string | undefined, reason: string): void => {
    if (now() < next) {
      leftOut += 1;
      return;
    }
    log.warn('webhook.stranger', { address, reason, ...(leftOut > 0 && { leftOut }) });
    next = now() + everyMs;
    leftOut = 0;
  };
}
