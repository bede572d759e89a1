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
