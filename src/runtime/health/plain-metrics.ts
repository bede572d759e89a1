import type { Histogram, LabelValues, Metrics } from './health.ts';

/** One metric: plain numbers, read at a scrape. */
export interface Family {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  /** By what follows the name, such as `{result="ok"}`. */
  readonly samples: Iterable<readonly [suffix: string, value: number]>;
}

interface NumberFamily extends Family {
  readonly samples: Map<string, number>;
}

/** Counters and gauges of a process. @param declare called once for each metric; throws for a name that is taken */
export function createPlainMetrics(
  declare: (name: string, family: NumberFamily) => void,
): Pick<Metrics, 'counter' | 'gauge'> {
  const add = (type: 'counter' | 'gauge', name: string, help: string, labels: readonly string[]) => {
    const samples = new Map<string, number>(labels.length === 0 ? [['', 0]] : []);
    declare(name, { type, help, samples });
    return samples;
  };
  return {
    counter(name, help, labels = []) {
      const samples = add('counter', name, help, labels);
      return { inc: (values = {}, by = 1) => increase(samples, labelText(labels, values), by) };
    },
    gauge(name, help, labels = []) {
      const samples = add('gauge', name, help, labels);
      return {
        set: (value, values = {}) => void samples.set(labelText(labels, values), value),
        add: (by, values = {}) => increase(samples, labelText(labels, values), by),
        remove: (values) => void samples.delete(labelText(labels, values)),
      };
    },
  };
}

function increase(samples: Map<string, number>, key: string, by: number): void {
  samples.set(key, (samples.get(key) ?? 0) + by);
}

/** Labels in braces, as the text format writes them; nothing if there are none. */
export function labelText(labels: readonly string[], values: LabelValues): string {
  let text = '';
  for (const label of labels) {
    const value = values[label];
    if (value !== undefined) text += `${text === '' ? '{' : ','}${label}="${escaped(value)}"`;
  }
  return text === '' ? '' : `${text}}`;
}

const escaped = (text: string): string =>
  text.replace(/[\\\n"]/g, (one) => (one === '\n' ? '\\n' : `\\${one}`));

/** By metric name, then by the text of the labels. */
export type MetricSamples = Readonly<Record<string, Readonly<Record<string, number>>>>;

export interface LeanMetrics extends Metrics {
  samples(): MetricSamples;
  /** Restores counts of another process; metrics not declared here are ignored. */
  restore(samples: MetricSamples): void;
}

const contentType = 'text/plain; version=0.0.4; charset=utf-8';

/** The page without prom-client, which costs a small process too much (ADR 12). No histograms. */
export function createLeanMetrics(): LeanMetrics {
  const families = new Map<string, NumberFamily>();
  const { counter, gauge } = createPlainMetrics((name, family) => {
    if (families.has(name)) throw new RangeError(`Metric ${name} is declared twice`);
    families.set(name, family);
  });
  return {
    counter,
    gauge,
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

function familyText([name, { type, help, samples }]: [string, NumberFamily]): string {
  const lines = [...samples].map(([suffix, value]) => `${name}${suffix} ${value}`);
  return `${[`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines].join('\n')}\n`;
}
