import type { Metrics } from '../../../runtime/health/metrics.ts';

/** `kept`: from memory; `found`: by a registry; `stale`: from memory, as the registry does not answer. */
export type LookupOutcome = 'kept' | 'found' | 'stale' | 'failed';

/** Counts what came of looking images up. */
export function createLookupCounter(metrics: Metrics): (outcome: LookupOutcome) => void {
  const counter = metrics.counter('svc_image_lookups_total', 'Images looked up, by what came of it', [
    'outcome',
  ]);
  return (outcome) => counter.inc({ outcome });
}
