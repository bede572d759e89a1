import type { Metrics } from '../../../runtime/health/metrics.ts';

export interface ChannelMetrics {
  connected(is: boolean): void;
  /** `ok`, or the result of a ReportError. */
  report(result: string): void;
  queued(hits: number): void;
  /** @param total hits given up so far */
  dropped(total: number): void;
}

export function createChannelMetrics(metrics: Metrics): ChannelMetrics {
  const connected = metrics.gauge('svc_agent_operator_connected', '1 while the operator answers');
  const reports = metrics.counter('svc_agent_operator_reports_total', 'Reports to the operator', ['result']);
  const queue = metrics.gauge(
    'svc_agent_operator_queue',
    'Hits that the operator has not confirmed, equal ones taken as one',
  );
  const dropped = metrics.counter(
    'svc_agent_operator_dropped_total',
    'Hits that the operator was not told one by one, because too many waited or it refused them',
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
