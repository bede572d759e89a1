import type { Guard, ProcessFacts, ProtectedProcess } from '../guard/contract.ts';
import { ending } from './refusal.ts';
import { SharedWork } from './shared-work.ts';

/** A wrapper that has given up asks again within a second or two. */
const usualKeepMs = 10_000;
/** Callers wait for ten times as long; what is done sooner is done anew for each that asks later. */
const quickMs = 500;
/** As many as may be connected. */
const mostKept = 256;

/** Has the guard protect processes, each by one walk at a time, however often it asks. */
export interface Protecting {
  /**
   * Resolves when the process and all of its descendants are protected.
   * @throws what the guard throws; the asker's reason
   */
  protect(process: ProtectedProcess, asker: AbortSignal): Promise<ProcessFacts>;
  /** Gives up what is under way. */
  close(): void;
}

/** @param keepMs how long a walk goes on, and what came of it is kept, for a process that has given up */
export function createProtecting(guard: Guard, keepMs = usualKeepMs): Protecting {
  const work = new SharedWork<Pick<Guard['status'], 'tier'> & { facts: ProcessFacts }>({
    ...{ keepMs, quickMs, mostKept },
    holds: ({ tier }) => tier === guard.status.tier,
  });
  return {
    async protect(process, asker) {
      const { facts } = await work.of(process, asker, async (signal) => ({
        facts: await guard.protectInTurns(process.pid, signal),
        tier: guard.status.tier,
      }));
      return facts;
    },
    close: () => work.close(ending()),
  };
}
