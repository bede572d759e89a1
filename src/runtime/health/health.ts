/** Health conditions of a component, each with a reason that `/readyz` or `/healthz` shows. */
export interface Health {
  /** `/readyz` is 503 with the reasons while any condition is not ready. */
  notReady(condition: string, reason: string): void;
  ready(condition: string): void;
  /** Shown in the body of `/healthz`, which stays 200. */
  degraded(condition: string, reason: string): void;
  recovered(condition: string): void;
  /** `/healthz` is 503 while a condition is reported here; for a component that has not begun its work. */
  notAlive(condition: string, reason: string): void;
  alive(condition: string): void;
  /** Shown in the body of `/readyz`, which then also has `ready` and `reason`, for programs that depend on it. */
  fact(name: string, value: HealthFact): void;
  isReady(): boolean;
  snapshot(): HealthSnapshot;
}

export type HealthFact = string | number | boolean;

export interface HealthSnapshot {
  readonly status: 'ok' | 'degraded';
  readonly ready: boolean;
  readonly notAlive: Readonly<Record<string, string>>;
  readonly notReady: Readonly<Record<string, string>>;
  readonly degraded: Readonly<Record<string, string>>;
  readonly facts: Readonly<Record<string, HealthFact>>;
}

export function createHealth(): Health {
  const notReady = new Map<string, string>();
  const degraded = new Map<string, string>();
  const notAlive = new Map<string, string>();
  const facts = new Map<string, HealthFact>();
  return {
    notReady: (condition, reason) => void notReady.set(condition, reason),
    ready: (condition) => void notReady.delete(condition),
    degraded: (condition, reason) => void degraded.set(condition, reason),
    recovered: (condition) => void degraded.delete(condition),
    notAlive: (condition, reason) => void notAlive.set(condition, reason),
    alive: (condition) => void notAlive.delete(condition),
    fact: (name, value) => void facts.set(name, value),
    isReady: () => notReady.size === 0,
    snapshot: () => ({
      status: degraded.size === 0 ? 'ok' : 'degraded',
      ready: notReady.size === 0,
      notAlive: Object.fromEntries(notAlive),
      notReady: Object.fromEntries(notReady),
      degraded: Object.fromEntries(degraded),
      facts: Object.fromEntries(facts),
    }),
  };
}

/** Counters, gauges and histograms of a component, exposed on `/metrics`. Names follow the rules of Prometheus. */
export interface Metrics {
  counter(name: string, help: string, labels?: readonly string[]): Counter;
  gauge(name: string, help: string, labels?: readonly string[]): Gauge;
  /** Observes seconds or bytes; `buckets` are upper bounds. */
  histogram(name: string, help: string, buckets: readonly number[], labels?: readonly string[]): Histogram;
  /** Prometheus text exposition. */
  expose(): Promise<{ contentType: string; body: string }>;
}

export type LabelValues = Readonly<Record<string, string>>;
export interface Counter {
  inc(labels?: LabelValues, by?: number): void;
}
export interface Gauge {
  set(value: number, labels?: LabelValues): void;
  add(by: number, labels?: LabelValues): void;
  /** Stops exporting the value with these labels. */
  remove(labels: LabelValues): void;
}
export interface Histogram {
  observe(value: number, labels?: LabelValues): void;
}

const contentType = 'text/plain; version=0.0.4; charset=utf-8';

interface Family {
  readonly type: 'counter' | 'gauge';
  readonly help: string;
  readonly labels: readonly string[];
  /** By the text of their labels, including braces. */
  readonly samples: Map<string, number>;
}

/** By metric name, then by the text of the labels. */
export type MetricSamples = Readonly<Record<string, Readonly<Record<string, number>>>>;

export interface LeanMetrics extends Metrics {
  samples(): MetricSamples;
  /** Restores counts of another process; metrics not declared here are ignored. */
  restore(samples: MetricSamples): void;
}

/** Counters and gauges without prom-client, which is too large for a small process. No histograms. */
export function createLeanMetrics(): LeanMetrics {
  const families = new Map<string, Family>();
  const add = (type: Family['type'], name: string, help: string, labels: readonly string[] = []): Family => {
    if (families.has(name)) throw new RangeError(`Metric ${name} is declared twice`);
    const family: Family = { type, help, labels, samples: new Map() };
    if (labels.length === 0) family.samples.set('', 0);
    families.set(name, family);
    return family;
  };
  return {
    counter(name, help, labels) {
      const family = add('counter', name, help, labels);
      return { inc: (values = {}, by = 1) => increase(family, values, by) };
    },
    gauge(name, help, labels) {
      const family = add('gauge', name, help, labels);
      return {
        set: (value, values = {}) => void family.samples.set(labelText(family, values), value),
        add: (by, values = {}) => increase(family, values, by),
        remove: (values) => void family.samples.delete(labelText(family, values)),
      };
    },
    histogram(name): Histogram {
      throw new RangeError(`Metric ${name}: no histograms here`);
    },
    expose: async () => ({ contentType, body: [...families].map(familyText).join('\n') }),
    samples: () =>
      Object.fromEntries([...families].map(([name, { samples }]) => [name, Object.fromEntries(samples)])),
    restore(given) {
      for (const [name, { samples }] of families) {
        for (const [labels, value] of Object.entries(given[name] ?? {})) samples.set(labels, value);
      }
    },
  };
}

function increase(family: Family, values: LabelValues, by: number): void {
  const key = labelText(family, values);
  family.samples.set(key, (family.samples.get(key) ?? 0) + by);
}

function labelText({ labels }: Family, values: LabelValues): string {
  if (labels.length === 0) return '';
  return `{${labels.map((label) => `${label}="${escaped(values[label] ?? '')}"`).join(',')}}`;
}

const escaped = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');

function familyText([name, { type, help, samples }]: [string, Family]): string {
  const lines = [...samples].map(([labels, value]) => `${name}${labels} ${value}`);
  return `${[`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines].join('\n')}\n`;
}
