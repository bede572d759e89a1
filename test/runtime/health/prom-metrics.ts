import type { Metrics } from '../../../src/runtime/health/health.ts';

/** Metrics that prom-client counts itself, for comparison. */
export async function promMetrics(): Promise<Metrics> {
  const { default: prometheus } = await import('prom-client');
  const registry = new prometheus.Registry();
  const registers = [registry];
  return {
    counter(name, help, labelNames = []) {
      const counter = new prometheus.Counter({ name, help, labelNames, registers });
      return { inc: (labels = {}, by = 1) => counter.inc(labels, by) };
    },
    gauge(name, help, labelNames = []) {
      const gauge = new prometheus.Gauge({ name, help, labelNames, registers });
      return {
        set: (value, labels = {}) => gauge.set(labels, value),
        add: (by, labels = {}) => gauge.inc(labels, by),
        remove: (labels) => gauge.remove(labels),
      };
    },
    histogram(name, help, given, labelNames = []) {
      const buckets = [...given];
      const histogram = new prometheus.Histogram({ name, help, buckets, labelNames, registers });
      return { observe: (value, labels = {}) => histogram.observe(labels, value) };
    },
    expose: async () => ({ contentType: registry.contentType, body: await registry.metrics() }),
  };
}
