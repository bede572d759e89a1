import type { Health } from '../../../runtime/health/health.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import type { ChannelMetrics } from './channel-metrics.ts';
import type { ReportError } from './report-error.ts';

/** Whether the operator answers, told to the log where it changes, to metrics and health. */
export class LinkStatus {
  readonly #log: Logger;
  readonly #metrics: ChannelMetrics;
  readonly #health: Pick<Health, 'degraded' | 'recovered'> | undefined;
  connected = false;
  lastError: string | undefined;

  constructor(log: Logger, metrics: ChannelMetrics, health?: Pick<Health, 'degraded' | 'recovered'>) {
    this.#log = log;
    this.#metrics = metrics;
    this.#health = health;
  }

  /** @param queued hits that wait still */
  answered(queued: number): void {
    this.#metrics.report('ok');
    if (!this.connected) this.#log.info('operator.connected', { queued });
    this.#turn(true, undefined);
    this.#health?.recovered('operator');
  }

  failed({ result, message }: ReportError, queued: number): void {
    this.#metrics.report(result);
    const isNews = this.connected || message !== this.lastError;
    this.#log[isNews ? 'warn' : 'debug']('operator.unreachable', { error: message, result, queued });
    this.#turn(false, message);
    this.#health?.degraded('operator', `the operator does not take reports: ${message}`);
  }

  #turn(connected: boolean, lastError: string | undefined): void {
    this.connected = connected;
    this.lastError = lastError;
    this.#metrics.connected(connected);
  }
}
