import type { Health, HealthFact } from './health.ts';

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
