import { mapEntries } from '../../../runtime/bpf/map-batch.ts';
import { watchingFromNow, watchingNever } from './boot-time.ts';
import { hasLate } from './late.ts';
import type { ProgramSet } from './program-set.ts';
import type { Tallies } from './tallies.ts';

/** Beats between two looks at whether the check of every read is still needed: each goes through all processes. */
const beatsBetweenLooks = 15;
const opensToForget = 32_768;

/** Keeps the check of every read attached for as long as anything is covered that was opened before, and no longer. */
export function createLateWatch(): (set: ProgramSet, tallies: Tallies) => void {
  let known = 0;
  let beats = 0;
  return (set, { covered_late: covered }) => {
    if (covered !== known) set.attachLate();
    else if (set.isLateAttached && ++beats % beatsBetweenLooks === 0 && !hasLate(set)) set.detachLate();
    known = covered;
    watchAgain(set);
  };
}

/** Once the table of openings was full, every process counted as opened; new ones need not any more when it has room. */
function watchAgain(set: ProgramSet): void {
  if (set.settings().watchingSince !== watchingNever) return;
  if (mapEntries(set.map('opened')).length < opensToForget) set.change({ watchingSince: watchingFromNow() });
}
