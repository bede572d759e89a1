import { decodeProtectionFlags, protectionFlags } from '../../../core/protection/layouts.ts';
import { visitEntries } from '../../../runtime/bpf/map-batch.ts';
import type { ProgramSet } from './program-set.ts';

const isLate = (value: Buffer) => (decodeProtectionFlags(value) & protectionFlags.late) !== 0;

/** Whether anything is covered that somebody may have opened before. */
export function hasLate(set: ProgramSet): boolean {
  let found = false;
  for (const name of ['processes', 'cgroups']) {
    visitEntries(set.map(name), (_key, value) => {
      found ||= isLate(value);
    });
  }
  return found;
}
