import type { Health } from '../../../runtime/health/health.ts';
import type { Metrics } from '../../../runtime/health/metrics.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { readCertificate, validityOf } from '../../../runtime/tls/inspect.ts';

/** Shows when the served certificate ends: by a metric, and loudly when that is near. */
export interface Expiry {
  /** @param cert PEM @param now in milliseconds since 1970 */
  look(cert: string, now: number): void;
}

/** One that renews itself has been replaced long before. */
const nearShare = 1 / 10;
const condition = 'certificate expiry';

export function createExpiry(metrics: Metrics, health: Health, log: Logger): Expiry {
  const gauge = metrics.gauge(
    'svc_certificate_not_after_seconds',
    'When the certificate ends that the operator serves with, in seconds since 1970',
  );
  let told = '';
  return {
    look(cert, now) {
      const { from, to } = validityOf(readCertificate(cert));
      gauge.set(to / 1_000);
      const reason = warningFor(from, to, now);
      if (reason === '') health.recovered(condition);
      else health.degraded(condition, reason);
      if (reason !== told && reason !== '') log.error('certificates.expiry', { reason });
      told = reason;
    },
  };
}

function warningFor(from: number, to: number, now: number): string {
  if (now >= to) return `The certificate expired at ${new Date(to).toISOString()}`;
  if (now < from) return `The certificate is valid from ${new Date(from).toISOString()} only`;
  return (to - now) / (to - from) < nearShare
    ? `The certificate expires at ${new Date(to).toISOString()}`
    : '';
}
