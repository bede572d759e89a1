import cluster from 'node:cluster';
import type { Metric, Registry } from 'prom-client';
import type { Histogram, Metrics } from './health.ts';
import { createPlainMetrics, type Family, labelText } from './plain-metrics.ts';

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
  const declare = (name: string, family: Family) => registry.registerMetric(readAtScrape(name, family));
  const { counter, gauge } = createPlainMetrics(declare);
  const info = ['version', 'component', 'node'];
  gauge('svc_build_info', 'Version of svc that runs, as labels; always 1', info).set(1, {
    ...build,
    node: process.version,
  });
  return {
    counter,
    gauge,
    histogram(name, help, buckets, labels) {
      const { family, observe } = createHistogram(help, buckets, labels);
      declare(name, family);
      return { observe };
    },
    async expose() {
      return { contentType: registry.contentType, body: await registry.metrics() };
    },
  };
}

/** What prom-client writes, and adds up over the workers. */
function readAtScrape(name: string, { type, help, samples }: Family): Metric<string> {
  const get = async () => ({
    name,
    help,
    type,
    aggregator: 'sum',
    values: [...samples].map(([suffix, value]) => ({ metricName: name + suffix, labels: {}, value })),
  });
  return { name, help, type, get } as unknown as Metric<string>;
}

interface Series {
  /** Values up to each bound and above the one before it. */
  readonly counts: number[];
  count: number;
  sum: number;
}

function createHistogram(
  help: string,
  buckets: readonly number[],
  labels: readonly string[] = [],
): Histogram & { readonly family: Family } {
  const all = new Map<string, Series>();
  const add = (key: string): Series => {
    const series = { counts: buckets.map(() => 0), count: 0, sum: 0 };
    all.set(key, series);
    return series;
  };
  if (labels.length === 0) add('');
  return {
    observe(value, values = {}) {
      const key = labelText(labels, values);
      const series = all.get(key) ?? add(key);
      const bucket = buckets.findIndex((bound) => value <= bound);
      if (bucket >= 0) series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
      series.count += 1;
      series.sum += value;
    },
    family: {
      type: 'histogram',
      help,
      samples: {
        *[Symbol.iterator]() {
          for (const [key, series] of all) yield* seriesSamples(key, series, buckets);
        },
      },
    },
  };
}

function seriesSamples(key: string, { counts, count, sum }: Series, buckets: readonly number[]) {
  const below = (bound: number | string) =>
    `_bucket{le="${bound}"${key === '' ? '' : `,${key.slice(1, -1)}`}}`;
  let seen = 0;
  const bounded = buckets.map((bound, index) => {
    seen += counts[index] ?? 0;
    return [below(bound), seen] as const;
  });
  return [
    ...bounded,
    ...([
      [below('+Inf'), count],
      [`_sum${key}`, sum],
      [`_count${key}`, count],
    ] as const),
  ];
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
