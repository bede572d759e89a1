import type { ProcessFacts } from './contract.ts';
import { coverSteps } from './cover.ts';
import { gone, unsettled } from './cover-errors.ts';
import type { ProgramSet } from './program-set.ts';
import { type NextTurn, takeInTurns } from './turns.ts';

/**
 * Covers a process and its descendants with other work of the agent in between.
 * @param inForce the programs that guard at the time: where they are others than those that it was begun with, it fails
 * @throws SvcError PROCESS_GONE, GUARD_FULL, PROTECTION_UNSETTLED; the signal's reason
 */
export async function coverInTurns(
  set: ProgramSet,
  inForce: () => ProgramSet | undefined,
  { pid, nextTurn, signal }: { pid: number; nextTurn: NextTurn; signal: AbortSignal },
): Promise<ProcessFacts> {
  const steps = coverSteps(set, pid);
  return takeInTurns(steps, nextTurn, () => {
    // programs that are not in force any more may be closed, and must not be asked
    if (inForce() !== set) throw unsettled(pid, 'what protects has changed meanwhile');
    if (!signal.aborted && set.ask('inspect', pid).error === 0) return;
    steps.return(undefined as never);
    throw signal.aborted ? signal.reason : gone(pid);
  });
}
