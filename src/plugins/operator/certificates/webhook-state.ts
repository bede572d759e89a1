import type { Health } from '../../../runtime/health/health.ts';
import type { Metrics } from '../../../runtime/health/metrics.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';

const written = 'webhook bundle';
const failurePolicy = 'webhook failure policy';

/** Shows what is the matter with the webhook configuration: by metrics, in the log, and in the body of `/healthz`. */
export class WebhookState {
  readonly #health: Health;
  readonly #log: Logger;
  readonly #writtenGauge;
  readonly #failOpenGauge;
  #failOpen = '';

  constructor(metrics: Metrics, health: Health, log: Logger) {
    this.#health = health;
    this.#log = log;
    this.#writtenGauge = metrics.gauge(
      'svc_webhook_ca_bundle_written',
      '1 while the leader finds its authorities in the webhook configuration; 0 on other replicas',
    );
    this.#failOpenGauge = metrics.gauge(
      'svc_webhook_fail_open',
      'Webhooks with failurePolicy Ignore, seen by the leader',
    );
    this.#writtenGauge.set(0);
    this.#failOpenGauge.set(0);
  }

  isWritten(): void {
    this.#writtenGauge.set(1);
    this.#health.recovered(written);
  }

  isNotWritten(reason: string): void {
    this.#writtenGauge.set(0);
    this.#health.degraded(written, reason);
  }

  failsOpen(names: readonly string[]): void {
    this.#failOpenGauge.set(names.length);
    const reason = `failurePolicy is Ignore: ${names.join(', ')}. Without the operator, pods start unprotected.`;
    if (names.length === 0) this.#health.recovered(failurePolicy);
    else this.#health.degraded(failurePolicy, reason);
    if (names.length > 0 && this.#failOpen !== reason)
      this.#log.error('webhook.fails.open', { webhooks: names });
    this.#failOpen = names.length > 0 ? reason : '';
  }

  /** The leader is another one, who says it all. */
  forget(): void {
    this.#writtenGauge.set(0);
    this.#failOpenGauge.set(0);
    this.#health.recovered(written);
    this.#health.recovered(failurePolicy);
    this.#failOpen = '';
  }
}
