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

/** The conditions of one component; ready while none of them is not. */
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
