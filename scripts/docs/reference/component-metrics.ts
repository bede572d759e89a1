import { createAccessEventSink } from '../../../src/plugins/agent/access-events.ts';
import { createGuardMetrics } from '../../../src/plugins/agent/index.ts';
import { createChannelMetrics } from '../../../src/plugins/agent/operator/channel.ts';
import { createPodWatchState } from '../../../src/plugins/agent/pods/pod-watch-state.ts';
import { registrationMetrics } from '../../../src/plugins/agent/registration/refusal.ts';
import { tokenMetrics } from '../../../src/plugins/agent/tokens/guard-tokens.ts';
import { createProxyMetrics } from '../../../src/plugins/proxy/metrics.ts';
import { createObservation } from '../../../src/plugins/wrapper/observation.ts';
import { createHealth } from '../../../src/runtime/health/health.ts';
import { quietLog } from '../../../test/support/quiet-log.ts';
import { createMetricRecorder, type DeclaredMetric } from '../operator/metric-recorder.ts';
import { operatorMetrics } from '../operator/metrics.ts';

/** What each component declares by itself, beside `svc_build_info`. */
export const componentMetrics: Readonly<Record<string, () => readonly DeclaredMetric[]>> = {
  proxy: proxyMetrics,
  wrapper: wrapperMetrics,
  agent: agentMetrics,
  operator: operatorMetrics,
};

function proxyMetrics(): readonly DeclaredMetric[] {
  const recorder = createMetricRecorder();
  createProxyMetrics(recorder);
  return recorder.declared;
}

function wrapperMetrics(): readonly DeclaredMetric[] {
  const recorder = createMetricRecorder();
  createObservation(recorder);
  return recorder.declared.filter(({ name }) => name !== 'svc_build_info');
}

function agentMetrics(): readonly DeclaredMetric[] {
  const recorder = createMetricRecorder();
  const none = () => undefined;
  createGuardMetrics(recorder);
  createAccessEventSink({
    ...{ log: quietLog, metrics: recorder, resolver: { podOfCgroup: none }, nameOf: none },
    channel: { hit: none },
    clock: { wallTime: (time) => time, after: none },
  });
  createPodWatchState({ log: quietLog, metrics: recorder, health: createHealth() });
  registrationMetrics(recorder);
  tokenMetrics(recorder);
  createChannelMetrics(recorder);
  return recorder.declared;
}
