import { readFileSync } from 'node:fs';
import type { Health, Metrics } from '../../../runtime/health/health.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { Channel, createChannelMetrics, LinkStatus, type Timings } from './channel.ts';
import { Connection } from './connection.ts';
import type { NodeState, OperatorAddress, OperatorChannel, TlsPaths } from './contract.ts';
import { PendingReports } from './pending-reports.ts';

/** Without an address the agent works alone: nothing is sent, queued or measured. */
export type Operator =
  | {
      readonly address: OperatorAddress;
      readonly tls: TlsPaths;
      /** A service-account token of this pod; undefined: the certificate names the node. */
      readonly tokenPath?: string | undefined;
    }
  | { readonly address?: undefined };

export type OperatorChannelOptions = Operator & ChannelOptions;

interface ChannelOptions {
  /** Name of the node. */
  readonly node: string;
  /** Random text that identifies this start of the agent. */
  readonly instance: string;
  readonly version: string;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Shows an unreachable operator as degraded. */
  readonly health?: Pick<Health, 'degraded' | 'recovered'>;
  /** Closes the channel. */
  readonly signal: AbortSignal;
  readonly state: () => NodeState;
  readonly timings?: Partial<Timings>;
}

const usual: Timings = {
  heartbeat: 15_000,
  change: 200,
  batch: 500,
  timeout: 10_000,
  farewell: 1_000,
  backoffInitial: 250,
  backoffMax: 15_000,
};

/** Starts to report to the operator, in the background. */
export function startOperatorChannel(options: OperatorChannelOptions): OperatorChannel {
  if (options.address === undefined) return alone;
  const { address, tls, tokenPath } = options;
  const timings = { ...usual, ...options.timings };
  const cut = new AbortController();
  const metrics = createChannelMetrics(options.metrics);
  const { node, instance, version, state } = options;
  const channel = new Channel({
    reports: new PendingReports({ node, instance, version, bootId: bootId() }, state),
    connection: new Connection({ address, tls, tokenPath, timeoutMs: timings.timeout, signal: cut.signal }),
    status: new LinkStatus(options.log, metrics, options.health),
    metrics,
    timings,
    cut,
  });
  const close = () => void channel.close();
  if (options.signal.aborted) close();
  options.signal.addEventListener('abort', close, { once: true });
  return channel;
}

const alone: OperatorChannel = {
  hit() {},
  changed() {},
  status: { connected: false, lastError: undefined, queued: 0 },
  async close() {},
};

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}
