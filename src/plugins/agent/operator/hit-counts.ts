import type { Hit } from '../../../core/protection/hit.ts';
import type { Outcome, Road } from '../../../core/protection/road.ts';

export interface HitCount {
  readonly road: Road;
  readonly outcome: Outcome;
  readonly count: number;
}

/** Counts every hit, by road and outcome. */
export class HitCounts {
  readonly #counts = new Map<string, { road: Road; outcome: Outcome; count: number }>();

  add({ road, outcome }: Hit, count = 1): void {
    const key = `${road} ${outcome}`;
    const known = this.#counts.get(key);
    if (known === undefined) this.#counts.set(key, { road, outcome, count });
    else known.count += count;
  }

  /** Those that are not zero. */
  list(): readonly HitCount[] {
    return [...this.#counts.values()];
  }
}
