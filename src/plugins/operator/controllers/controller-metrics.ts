import type { Counter, Gauge, Histogram, Metrics } from '../../../runtime/health/metrics.ts';

/** As controller-runtime has them. */
export const results = ['success', 'error', 'requeue', 'requeue_after'] as const;
export type Result = (typeof results)[number];

export interface ControllerMetrics {
  /** By `controller` and `result`. */
  readonly reconciled: Counter;
  /** These by `controller`. */
  readonly errors: Counter;
  readonly seconds: Histogram;
  readonly waited: Histogram;
  readonly depth: Gauge;
}

const known = new WeakMap<Metrics, ControllerMetrics>();
const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** All controllers share them, so that they are registered with the first one. */
export function controllerMetrics(metrics: Metrics): ControllerMetrics {
  const registered = known.get(metrics) ?? register(metrics);
  known.set(metrics, registered);
  return registered;
}

/** Source of the names: https://book.kubebuilder.io/reference/metrics-reference */
function register(metrics: Metrics): ControllerMetrics {
  const by = ['controller'];
  return {
    reconciled: metrics.counter(
      'controller_runtime_reconcile_total',
      'Reconciliations by controller and result',
      [...by, 'result'],
    ),
    errors: metrics.counter('controller_runtime_reconcile_errors_total', 'Failed reconciliations', by),
    seconds: metrics.histogram(
      'controller_runtime_reconcile_time_seconds',
      'How long a reconciliation took',
      buckets,
      by,
    ),
    waited: metrics.histogram(
      'workqueue_queue_duration_seconds',
      'How long an object had to wait after it was due',
      buckets,
      by,
    ),
    depth: metrics.gauge('workqueue_depth', 'Objects that wait or are worked on', by),
  };
}
