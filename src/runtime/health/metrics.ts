/** Counters, gauges and histograms of a component, exposed on `/metrics`. Names follow Prometheus' rules. */
export interface Metrics {
  counter(name: string, help: string, labels?: readonly string[]): Counter;
  gauge(name: string, help: string, labels?: readonly string[]): Gauge;
  /** Seconds or bytes; `buckets` are upper bounds. */
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
  /** The value with these labels is shown no longer. */
  remove(labels: LabelValues): void;
}
export interface Histogram {
  observe(value: number, labels?: LabelValues): void;
}
