import type { Decoy } from './decoy.ts';
import { type Attempt, readDecoy, readDecoyByChild } from './read-decoy.ts';
import type { Mode } from './status.ts';

/** What the mode asks of a tier. */
export interface CanaryMode extends Mode {
  /** The tier denies: `file_open` answers an error. */
  readonly denies: boolean;
}

/** How many attempts on the decoy the programs have counted so far. */
export type CountDecoyHits = () => number;

/**
 * Tries to read the decoy and compares what happened with what the tier promises.
 * @returns what is wrong; undefined where the tier is proven
 */
export async function tryCanary(
  decoy: Decoy,
  mode: CanaryMode,
  count: CountDecoyHits,
): Promise<string | undefined> {
  const before = count();
  const wrong = judgeAttempt(readDecoy(decoy), mode.denies && mode.enforce ? 'denied' : 'read');
  if (wrong !== undefined) return wrong;
  return count() > before ? undefined : 'reading the decoy was not noticed';
}

/** The same by a reader that is to be killed. */
export async function tryDeadlyCanary(decoy: Decoy): Promise<string | undefined> {
  return judgeAttempt(await readDecoyByChild(decoy), 'killed');
}

function judgeAttempt(attempt: Attempt, wanted: Attempt): string | undefined {
  if (attempt === wanted) return undefined;
  if (typeof attempt === 'object') return `the decoy could not be read: ${attempt.failed}`;
  if (attempt === 'read') return 'a read of the decoy went through';
  return `a read of the decoy was ${attempt}`;
}
