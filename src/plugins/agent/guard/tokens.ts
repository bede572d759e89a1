import { constants } from 'node:os';
import { visitEntries } from '../bpf/map.ts';
import { gone, tableFull } from './descendants.ts';
import type { ProgramSet } from './program-set.ts';

const { E2BIG, EOPNOTSUPP, ESRCH } = constants.errno;

/**
 * From now on only this process, and those of its pod that are let in by further calls, may open the files of a volume.
 * @param descriptor of the agent, of anything in the volume
 * @throws SvcError PROCESS_GONE, GUARD_FULL; Error if the volume is not a tmpfs with a UUID
 */
export function guardToken(set: ProgramSet, pid: number, descriptor: number): void {
  const ask = () => set.ask('guardToken', pid, descriptor);
  let { error, process } = ask();
  // the last other process that was let in may have ended meanwhile, and with it the volume's guard
  if (error === -ESRCH && process.pid !== 0) ({ error, process } = ask());
  if (error === 0) return;
  if (error === -ESRCH) throw gone(pid);
  if (error === -E2BIG) throw tableFull('tokens');
  if (error === -EOPNOTSUPP) throw new Error('The volume is no tmpfs with a UUID (Linux 5.13 or newer)');
  throw new Error(`The programs could not guard the volume: errno ${-error}`);
}

/** Lets this process open all guarded volumes: it writes them. */
export function keepTokens(set: ProgramSet, pid: number): void {
  set.ask('keepTokens', pid);
}

export function countTokens(set: ProgramSet): number {
  let count = 0;
  visitEntries(set.map('tokens'), () => {
    count += 1;
  });
  return count;
}
