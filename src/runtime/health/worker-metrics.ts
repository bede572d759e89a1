import cluster from 'node:cluster';
import type { Registry } from 'prom-client';
import type { Metrics } from './metrics.ts';

/** In a worker of node:cluster: hands the registry's figures to the primary when it asks. */
export function offerToPrimary(
  { AggregatorRegistry }: typeof import('prom-client'),
  registry: Registry,
): void {
  if (!cluster.isWorker) return;
  AggregatorRegistry.setRegistries(registry);
  new AggregatorRegistry();
}

/** In the primary: the figures of all workers together. */
export const exposeWorkers: Metrics['expose'] = async () => {
  const { default: prometheus } = await import('prom-client');
  const aggregate = new prometheus.AggregatorRegistry();
  return { contentType: aggregate.contentType, body: await aggregate.clusterMetrics() };
};
