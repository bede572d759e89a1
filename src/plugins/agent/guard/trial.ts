import { protectionFlags } from '../../../core/protection/layouts.ts';
import { sleep } from '../../../runtime/lifecycle/sleep.ts';
import { type CanaryMode, tryCanary, tryDeadlyCanary } from './canary.ts';
import type { Decoy, Decoys } from './decoy.ts';
import type { ProgramSet } from './program-set.ts';
import { readTallies } from './tallies.ts';

const mostDecoys = 8;
/** Who is killed goes on for a moment, without its memory. */
const untilEndedMs = 20;

/** The canary of each beat. @returns what is wrong */
export const tryQuick = (decoys: Decoys, mode: CanaryMode, set: ProgramSet): Promise<string | undefined> =>
  tryOnLiving(decoys, set, (decoy) => tryCanary(decoy, mode, () => readTallies(set).decoy_hits));

/** The same, and where readers are to be killed, one that is. */
export async function tryAll(decoys: Decoys, mode: CanaryMode, set: ProgramSet): Promise<string | undefined> {
  const wrong = await tryQuick(decoys, mode, set);
  if (wrong !== undefined || mode.denies || !mode.enforce || !mode.kill) return wrong;
  return tryOnLiving(decoys, set, tryDeadlyCanary);
}

export function protectDecoy(set: ProgramSet, { pid }: Decoy): void {
  set.ask('protect', pid, protectionFlags.decoy);
}

/** What fails on a decoy that somebody has ended meanwhile says nothing of the tier. */
async function tryOnLiving(
  decoys: Decoys,
  set: ProgramSet,
  attempt: (decoy: Decoy) => Promise<string | undefined>,
): Promise<string | undefined> {
  let wrong: string | undefined;
  for (let tries = 0; tries < mostDecoys; tries += 1) {
    const decoy = await decoys.living((fresh) => protectDecoy(set, fresh));
    wrong = await attempt(decoy);
    if (wrong === undefined) return undefined;
    await sleep(untilEndedMs);
    if (decoy.isAlive) return wrong;
  }
  return wrong;
}
