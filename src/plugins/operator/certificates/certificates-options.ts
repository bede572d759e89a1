import type { Health } from '../../../runtime/health/health.ts';
import type { Metrics } from '../../../runtime/health/metrics.ts';
import type { KubeClient } from '../../../runtime/kube/client.ts';
import type { Leadership } from '../../../runtime/kube/leadership.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import type { Lifetimes } from './lifetimes.ts';

export interface CertificatesOptions {
  readonly client: KubeClient;
  /** Of the operator, where its secrets are. */
  readonly namespace: string;
  /** Of the operator; it names the webhook configuration too. Agents call `<service>-agents`. */
  readonly serviceName: string;
  readonly leadership: Leadership;
  /** Folder with `tls.crt`, `tls.key` and perhaps `ca.crt` that are served instead. */
  readonly certDir?: string | undefined;
  readonly metrics: Metrics;
  readonly health: Health;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** In milliseconds since 1970; default: the clock. */
  readonly now?: () => number;
  readonly lifetimes?: Partial<Lifetimes>;
  /** About the time between two looks at everything. Default: 30 s. */
  readonly intervalMs?: number;
}
