import type { Tier } from '../../../core/protection/tier.ts';
import type { Guard, ProcessFacts } from '../guard/contract.ts';
import { type Caller, requireReady, requireSame } from './caller.ts';
import { podOf, type ReadCgroups } from './pod.ts';
import type { Protecting } from './protecting.ts';
import { Refusal } from './refusal.ts';

export interface RegisterRequest {
  readonly podUid: string;
}

export interface RegisterDeps {
  readonly guard: Guard;
  readonly protecting: Protecting;
  readonly readCgroups: ReadCgroups;
}

export interface Registered {
  readonly facts: ProcessFacts;
  readonly tier: Tier;
  readonly podUid: string | undefined;
}

/**
 * Protects the caller, unless it is not what it says or somebody has access to it already.
 * @param asker aborted when the caller has given up
 * @throws Refusal; SvcError of the guard; the asker's reason
 */
export async function register(
  caller: Caller,
  { podUid: named }: RegisterRequest,
  { guard, protecting, readCgroups }: RegisterDeps,
  asker: AbortSignal,
): Promise<Registered> {
  requireReady(guard);
  const podUid = podOf(caller.pid, named, readCgroups);
  requireSame(caller, guard.inspect(caller.pid));
  // Protected before it is judged: whoever comes in between is kept out.
  const { openedBefore } = requireSame(caller, await protecting.protect(caller, asker));
  // as it is now: another request may have begun it, some seconds ago
  const facts = { ...requireSame(caller, guard.inspect(caller.pid)), openedBefore };
  const { tier = 4 } = guard.status;
  refuseTraced(facts);
  if (tier === 4) refuseOpened(facts);
  else requireCovered(facts);
  return { facts, tier, podUid };
}

function refuseTraced({ traced, pid }: ProcessFacts): void {
  if (!traced) return;
  throw new Refusal(
    'traced',
    `Process ${pid} is being traced; detach the debugger and start the process anew.`,
  );
}

/** The tiers that guard check reads of descriptors that were opened before. */
function refuseOpened({ openedBefore, pid }: ProcessFacts): void {
  if (!openedBefore) return;
  throw new Refusal(
    'opened_before',
    `Another process has opened the memory or environment of process ${pid}, and this node cannot stop it from reading; start the process anew.`,
  );
}

function requireCovered({ covered, pid }: ProcessFacts): void {
  if (!covered) throw new Error(`Process ${pid} is not covered although it was registered`);
}
