import { formatDuration } from '../../duration.ts';
import type { Pod } from '../../kubernetes/pod.ts';

const defaultGraceSeconds = 30;
const mostSpareMs = 5_000;
const leastMs = 500;

/**
 * How long the application may take to end: what the pod grants, less a quarter and 5 s at most, in which the wrapper
 * kills what has not ended, and ends itself.
 */
export function stopGrace({ spec }: Pod): string {
  const granted = (spec.terminationGracePeriodSeconds ?? defaultGraceSeconds) * 1_000;
  return formatDuration(Math.max(leastMs, granted - Math.min(mostSpareMs, granted / 4)));
}
