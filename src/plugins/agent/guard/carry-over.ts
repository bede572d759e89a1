import { mapEntries } from '../../../runtime/bpf/map-batch.ts';
import type { ProgramSet } from './program-set.ts';

/** Maps are shared by their pins; where somebody has removed those, what was covered is copied. */
export function carryOver(from: ProgramSet, to: ProgramSet): void {
  for (const name of ['processes', 'cgroups', 'crowds']) {
    const target = to.map(name);
    if (target.facts.id === from.map(name).facts.id) continue;
    for (const { key, value } of mapEntries(from.map(name))) {
      if (target.lookup(key) === undefined) target.update(key, value);
    }
  }
}
