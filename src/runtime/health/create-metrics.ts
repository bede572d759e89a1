import cluster from 'node:cluster';
import type { Registry } from 'prom-client';
import type { Metrics } from './health.ts';

/** Labels of `svc_build_info`. */
export interface BuildInfo {
  readonly version: string;
  readonly component: string;
}

/** Metrics of this process in a registry of their own, including Node's metrics and `svc_build_info`. */
export async function createMetrics(build: BuildInfo): Promise<Metrics> {
  const { default: prometheus } = await import('prom-client');
  const registry = new prometheus.Registry();
  prometheus.collectDefaultMetrics({ register: registry });
  offerToPrimary(prometheus, registry);
  const metrics = overRegistry(prometheus, registry);
  metrics
    .gauge('svc_build_info', 'Version of svc that runs, as labels; always 1', [
      'version',
      'component',
      'node',
    ])
    .set(1, { ...build, node: process.version });
  return metrics;
}

function overRegistry(prometheus: typeof import('prom-client'), registry: Registry): Metrics {
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
    histogram(name, help, buckets, labelNames = []) {
      const histogram = new prometheus.Histogram({
        name,
        help,
        buckets: [...buckets],
        labelNames,
        registers,
      });
      return { observe: (value, labels = {}) => histogram.observe(labels, value) };
    },
    async expose() {
      return { contentType: registry.contentType, body: await registry.metrics() };
    },
  };
}

/** In a node:cluster worker: sends the registry's metrics to the primary on request. */
function offerToPrimary({ AggregatorRegistry }: typeof import('prom-client'), registry: Registry): void {
  if (!cluster.isWorker) return;
  AggregatorRegistry.setRegistries(registry);
  new AggregatorRegistry();
}

/** In the primary: the aggregated metrics of all workers. */
export const exposeWorkers: Metrics['expose'] = async () => {
  const { default: prometheus } = await import('prom-client');
  const aggregate = new prometheus.AggregatorRegistry();
  return { contentType: aggregate.contentType, body: await aggregate.clusterMetrics() };
};
