import type { Metrics } from '../../../runtime/health/metrics.ts';
import type { Decision } from './decision.ts';

export interface WebhookMetrics {
  /** @param counts false: the pod was counted before, or is not to be */
  answered(decision: Decision, milliseconds: number, counts: boolean): void;
  /** A review was refused unread. */
  turnedAway(): void;
}

const statuses = { inject: 'success', deny: 'error', skip: 'skipped' } as const;
const seconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5, 10];

export function createWebhookMetrics(metrics: Metrics): WebhookMetrics {
  const injections = metrics.counter(
    'svc_webhook_injection_total',
    'Pods by what the webhook did: success (injected), error (refused) or skipped (not asked for)',
    ['status'],
  );
  const duration = metrics.histogram('svc_webhook_duration_seconds', 'Time to answer a review', seconds);
  // a rate over a counter that is not there yet is no alert
  for (const status of Object.values(statuses)) injections.inc({ status }, 0);
  return {
    answered(decision, milliseconds, counts) {
      if (counts) injections.inc({ status: statuses[decision.kind] });
      duration.observe(milliseconds / 1_000);
    },
    turnedAway: () => injections.inc({ status: statuses.deny }),
  };
}
