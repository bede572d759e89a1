import type { Health, Metrics } from '../../../runtime/health/health.ts';
import { type Backoff, createBackoff } from '../../../runtime/lifecycle/wait.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import type { Connection } from './connection.ts';
import {
  type ChannelStatus,
  type ObservedAccessEvent,
  type OperatorChannel,
  ReportError,
} from './contract.ts';
import { mostHits, type PendingReport, type PendingReports, type ReportReply } from './pending-reports.ts';

/** In milliseconds. */
export interface Timings {
  /** Between reports without news. */
  readonly heartbeat: number;
  /** How long changes of the state are gathered. */
  readonly change: number;
  /** How long access events are gathered. */
  readonly batch: number;
  /** Of one call. */
  readonly timeout: number;
  /** For the last reports at the end. */
  readonly farewell: number;
  readonly backoffInitial: number;
  readonly backoffMax: number;
}

export interface ChannelParts {
  readonly reports: PendingReports;
  readonly connection: Connection;
  readonly status: LinkStatus;
  readonly metrics: ChannelMetrics;
  readonly timings: Timings;
  /** Aborts calls in progress. */
  readonly cut: AbortController;
}

/** The schema's bound on the interval that the operator may ask for. */
const longestInterval = 60_000;

/**
 * Rings at the earliest requested time, but not before a minimum. `startPeriodic` has a single pause, which can only be
 * ended at once; here an access event moves the next report to the end of its batch, and the operator's interval or a
 * back-off delays it.
 */
export class Alarm {
  #due = Number.POSITIVE_INFINITY;
  #earliest = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #ring: ((rang: boolean) => void) | undefined;
  #stopped = false;

  /** Rings after at most `ms`, unless `notBefore` delays it. */
  within(ms: number): void {
    const due = performance.now() + ms;
    if (due >= this.#due) return;
    this.#due = due;
    this.#arm();
  }

  /** Does not ring for `ms`. */
  notBefore(ms: number): void {
    this.#earliest = performance.now() + ms;
    this.#arm();
  }

  /** Resolves to true at the next ring, to false when stopped. */
  rings(): Promise<boolean> {
    if (this.#stopped) return Promise.resolve(false);
    return new Promise((resolve) => {
      this.#ring = resolve;
      this.#arm();
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#settle(false);
  }

  #arm(): void {
    if (this.#ring === undefined) return;
    clearTimeout(this.#timer);
    const at = Math.max(this.#due, this.#earliest);
    if (!Number.isFinite(at)) return;
    this.#timer = setTimeout(() => this.#settle(true), Math.max(0, at - performance.now()));
  }

  #settle(rang: boolean): void {
    clearTimeout(this.#timer);
    this.#due = Number.POSITIVE_INFINITY;
    this.#ring?.(rang);
    this.#ring = undefined;
  }
}

/** Sends one report after another, each as soon as there is news and the operator permits. */
export class Channel implements OperatorChannel {
  readonly #parts: ChannelParts;
  readonly #alarm = new Alarm();
  readonly #backoff: Backoff;
  readonly #ended: Promise<void>;
  #closing: Promise<void> | undefined;

  constructor(parts: ChannelParts) {
    this.#parts = parts;
    const { backoffInitial: initialMs, backoffMax: maxMs } = parts.timings;
    this.#backoff = createBackoff({ initialMs, maxMs });
    this.#alarm.within(0);
    this.#ended = this.#run();
  }

  hit(hit: ObservedAccessEvent, count?: number, lastAt?: bigint): void {
    const { reports, metrics, timings } = this.#parts;
    reports.hit(hit, count, lastAt);
    metrics.queued(reports.queued);
    metrics.dropped(reports.dropped);
    this.#alarm.within(reports.queued < mostHits ? timings.batch : 0);
  }

  changed(): void {
    this.#parts.reports.changed();
    this.#alarm.within(this.#parts.timings.change);
  }

  get status(): ChannelStatus {
    const { status, reports } = this.#parts;
    return { connected: status.connected, lastError: status.lastError, queued: reports.queued };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { cut, timings, connection } = this.#parts;
    const timer = setTimeout(() => cut.abort(), timings.farewell);
    this.#alarm.stop();
    await this.#ended;
    clearTimeout(timer);
    connection.close();
  }

  async #run(): Promise<void> {
    while (await this.#alarm.rings()) await this.#report();
    await this.#tellTheRest();
  }

  async #tellTheRest(): Promise<void> {
    const { status, reports, cut } = this.#parts;
    do {
      if (!status.connected || cut.signal.aborted) return;
      await this.#report();
    } while (reports.queued > 0);
  }

  /** Never throws: the agent keeps working whatever happens to a report. */
  async #report(): Promise<void> {
    const { reports, connection, metrics } = this.#parts;
    try {
      const report = reports.next();
      const reply = await connection.report(report.message);
      this.#answered(report, reply);
    } catch (error) {
      this.#failed(ReportError.from(error));
    }
    metrics.queued(reports.queued);
    metrics.dropped(reports.dropped);
  }

  #answered(report: PendingReport, reply: ReportReply): void {
    const { reports, status, timings } = this.#parts;
    const tookSome = reports.answered(report, reply);
    if (!tookSome)
      throw new ReportError('no_progress', 'the operator accepted none of the reported attempts');
    status.answered(reports.queued);
    this.#backoff.reset();
    this.#alarm.notBefore(Math.min(reply.minIntervalMs, longestInterval));
    this.#alarm.within(timings.heartbeat);
    if (reports.queued > 0) this.#alarm.within(reports.queued < mostHits ? timings.batch : 0);
    if (reply.sendState && report.stateText === undefined) this.#alarm.within(0);
  }

  #failed(error: ReportError): void {
    const { reports, status } = this.#parts;
    if (error.result === 'invalid_argument') reports.refused();
    else reports.unanswered();
    status.failed(error, reports.queued);
    this.#alarm.notBefore(this.#backoff.next());
    this.#alarm.within(0);
  }
}

/** Shows whether the operator answers: in metrics and health, and in the log when it changes. */
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

  /** @param queued access events that still wait */
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
    this.#health?.degraded('operator', `the operator does not accept reports: ${message}`);
  }

  #turn(connected: boolean, lastError: string | undefined): void {
    this.connected = connected;
    this.lastError = lastError;
    this.#metrics.connected(connected);
  }
}

interface ChannelMetrics {
  connected(is: boolean): void;
  /** @param result `ok`, or the result of a ReportError */
  report(result: string): void;
  queued(hits: number): void;
  /** @param total access events dropped so far */
  dropped(total: number): void;
}

export function createChannelMetrics(metrics: Metrics): ChannelMetrics {
  const connected = metrics.gauge('svc_agent_operator_connected', '1 while the operator answers');
  const reports = metrics.counter('svc_agent_operator_reports_total', 'Reports to the operator', ['result']);
  const queue = metrics.gauge(
    'svc_agent_operator_queue',
    'Access attempts that the operator has not confirmed, deduplicated',
  );
  const dropped = metrics.counter(
    'svc_agent_operator_dropped_total',
    'Access attempts not reported one by one: too many waited, or the operator refused them',
  );
  let known = 0;
  connected.set(0);
  return {
    connected: (is) => connected.set(is ? 1 : 0),
    report: (result) => reports.inc({ result }),
    queued: (hits) => queue.set(hits),
    dropped(total) {
      if (total > known) dropped.inc({}, total - known);
      known = total;
    },
  };
}
