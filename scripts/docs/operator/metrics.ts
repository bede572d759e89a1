import { createExpiry } from '../../../src/plugins/operator/certificates/start-certificates.ts';
import { WebhookState } from '../../../src/plugins/operator/certificates/webhook-bundle.ts';
import { createClusterRoom } from '../../../src/plugins/operator/cluster-room.ts';
import { createScoreGauge } from '../../../src/plugins/operator/controllers/protection-report.ts';
import { controllerMetrics } from '../../../src/plugins/operator/controllers/run-controller.ts';
import { createEgressMetrics } from '../../../src/plugins/operator/egress/start-egress-controller.ts';
import { createLookupCounter } from '../../../src/plugins/operator/images/look-up-one.ts';
import { createNodeMetrics } from '../../../src/plugins/operator/nodes/node-watch.ts';
import { createWatchState } from '../../../src/plugins/operator/start-cluster-view.ts';
import { createWebhookMetrics } from '../../../src/plugins/operator/webhook/handler.ts';
import { createHealth } from '../../../src/runtime/health/health.ts';
import { quietLog } from '../../../test/support/quiet-log.ts';
import { createMetricRecorder, type DeclaredMetric } from './metric-recorder.ts';

/** What the parts of the operator declare, in the order of their makers below. */
export function operatorMetrics(): readonly DeclaredMetric[] {
  const recorder = createMetricRecorder();
  createWebhookMetrics(recorder);
  controllerMetrics(recorder);
  createScoreGauge(recorder);
  createWatchState(createHealth(), recorder).close();
  createClusterRoom(quietLog, recorder);
  createLookupCounter(recorder);
  createEgressMetrics(recorder);
  createExpiry(recorder, createHealth(), quietLog);
  new WebhookState(recorder, createHealth(), quietLog);
  createNodeMetrics(recorder);
  return recorder.declared;
}
