/** One reason why a component is not ready; the text is shown by `/readyz`. */
export interface Health {
  /** `/readyz` is 200 while every named condition is ready; a condition starts as not ready with its reason. */
  notReady(condition: string, reason: string): void;
  ready(condition: string): void;
  /** Shown in the body of `/healthz` without changing its 200. */
  degraded(condition: string, reason: string): void;
  recovered(condition: string): void;
  /** `/healthz` is 503 while a condition is given here; for a component that has not begun its work. */
  notAlive(condition: string, reason: string): void;
  alive(condition: string): void;
  /** Shown in the body of `/readyz`, which then says `ready` and `reason` besides, for those who act on it. */
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
