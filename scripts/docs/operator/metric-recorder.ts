import type { Metrics } from '../../../src/runtime/health/health.ts';

export interface DeclaredMetric {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  readonly help: string;
}

/** Metrics that nobody counts with: only what is declared is kept, in `declared`. */
export function createMetricRecorder(): Metrics & { readonly declared: DeclaredMetric[] } {
  const declared: DeclaredMetric[] = [];
  const declare = (
    type: DeclaredMetric['type'],
    name: string,
    help: string,
    labels: readonly string[] = [],
  ) => {
    declared.push({ name, type, labels, help });
    return { inc: () => {}, set: () => {}, add: () => {}, remove: () => {}, observe: () => {} };
  };
  return {
    declared,
    counter: (name, help, labels) => declare('counter', name, help, labels),
    gauge: (name, help, labels) => declare('gauge', name, help, labels),
    histogram: (name, help, _buckets, labels) => declare('histogram', name, help, labels),
    expose: async () => ({ contentType: '', body: '' }),
  };
}
