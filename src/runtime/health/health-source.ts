import type { HealthSnapshot } from './health.ts';
import type { Metrics } from './metrics.ts';

/** What the health server shows. */
export interface HealthSource {
  snapshot(): HealthSnapshot;
  /** Asked anew at each request, so that it can be replaced while running. */
  expose(): ReturnType<Metrics['expose']>;
}
