import type { ObjectMetrics } from '../../objects/context.ts';
import type { Metrics } from '../../runtime/health/health.ts';

const secondsBuckets = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** The proxy's metrics: those that handlers count, and those that only the server counts. */
export interface ServerMetrics extends ObjectMetrics {
  /** Requests being served: +1 or -1. */
  inFlight(by: 1 | -1): void;
  sent(bytes: number): void;
  keyServerHangs(hangs: boolean): void;
}

export function createProxyMetrics(metrics: Metrics): ServerMetrics {
  const requests = metrics.counter('svc_proxy_requests_total', 'Requests answered', ['operation', 'status']);
  const seconds = metrics.histogram(
    'svc_proxy_request_seconds',
    'Time from the head of a request to the end of its response',
    secondsBuckets,
    ['operation'],
  );
  const refused = metrics.counter('svc_proxy_refused_objects_total', 'Stored objects that were refused', [
    'reason',
  ]);
  const bytes = metrics.counter('svc_proxy_bytes_total', 'Plaintext bytes encrypted and decrypted', [
    'direction',
  ]);
  const sent = metrics.counter('svc_proxy_sent_bytes_total', 'Bytes of bodies sent to callers');
  const inFlight = metrics.gauge('svc_proxy_requests_in_flight', 'Requests being served');
  const hangs = metrics.gauge('svc_proxy_key_server_hangs', '1 while the key server does not answer in time');
  return {
    request(operation, status, took) {
      requests.inc({ operation, status: String(status) });
      seconds.observe(took, { operation });
    },
    refused: (reason) => refused.inc({ reason }),
    bytes: (direction, count) => bytes.inc({ direction }, count),
    inFlight: (by) => inFlight.add(by),
    sent: (count) => sent.inc({}, count),
    keyServerHangs: (now) => hangs.set(now ? 1 : 0),
  };
}
