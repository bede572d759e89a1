import { createTurns, type NextTurn, takeInTurns } from '../../../runtime/lifecycle/turns.ts';
import { readProcess } from '../../../runtime/native/processes.ts';
import {
  type AccessEvent,
  decodeProcess,
  decodeProtectionFlags,
  protectionFlags,
} from '../../../runtime/protocols/protection/bpf-layouts.ts';
import { mapEntries, visitEntries } from '../bpf/map.ts';
import {
  type AccessEventListener,
  type Guard,
  type GuardStatus,
  type ProcessFacts,
  type ProtectedProcess,
  undecided,
} from './contract.ts';
import {
  coverCgroup,
  coverProcess,
  coverSteps,
  createUnguarded,
  inspectProcess,
  releaseCgroup,
  uncoveredFacts,
} from './cover.ts';
import { gone, tracedSteps, unsettled } from './descendants.ts';
import { type GuardKeeper, type KeeperOptions, startKeeper } from './keeper.ts';
import { crowdedCgroups } from './map-readings.ts';
import type { ProgramSet } from './program-set.ts';
import { countTokens, guardToken, keepTokens } from './tokens.ts';

export type GuardOptions = Omit<KeeperOptions, 'onHit' | 'onUnknown' | 'onStatus' | 'onCrowded' | 'catchUp'>;

/** A guard that is not started yet. Until `start` its status is undecided, and requests to cover are remembered. */
export interface StartingGuard extends Guard {
  /** Resolves when a tier is in force, or none can be. */
  start(): Promise<void>;
  /** The length of `processes()`. */
  processCount(): number;
}

export function createGuard(options: GuardOptions): StartingGuard {
  const hitListeners: AccessEventListener[] = [];
  const statusListeners: ((status: GuardStatus) => void)[] = [];
  const crowdListeners: ((cgroups: readonly bigint[]) => void)[] = [];
  const unguarded = createUnguarded();
  let keeper: GuardKeeper | undefined;
  const set = () => keeper?.set;
  const nextTurn = createTurns();
  return {
    async start() {
      keeper = await startKeeper({
        ...options,
        onHit(hit, times) {
          resumeStoppedProcess(hit);
          for (const listener of hitListeners) listener(hit, times);
        },
        onUnknown: once(() => options.log.warn('hits.unknown')),
        // the first status is reported when the guard can be queried
        onStatus: (status) => keeper !== undefined && callAll(statusListeners, status),
        onCrowded: (cgroups) => callAll(crowdListeners, cgroups),
        catchUp: unguarded.catchUp,
      });
      callAll(statusListeners, keeper.status);
    },
    get status() {
      return keeper?.status ?? undecided;
    },
    onStatus: (listener) => void statusListeners.push(listener),
    onHit: (listener) => void hitListeners.push(listener),
    onCrowded: (listener) => void crowdListeners.push(listener),
    protect: (pid) =>
      apply(
        set(),
        (now) => coverProcess(now, pid),
        () => unguarded.remember(pid),
      ),
    protectInTurns: async (pid, signal) =>
      apply(
        set(),
        (now) => protectIncrementally(now, set, { pid, nextTurn, signal }),
        async () => unguarded.remember(pid),
      ),
    inspect: (pid) =>
      apply(
        set(),
        (now) => inspectProcess(now, pid),
        () => uncoveredFacts(pid),
      ),
    isTraced: (pid, signal) => takeInTurns(tracedSteps(pid), nextTurn, () => signal.throwIfAborted()),
    protectCgroup: (id) =>
      apply(
        set(),
        (now) => coverCgroup(now, id),
        () => unguarded.rememberCgroup(id),
      ),
    releaseCgroup(id) {
      unguarded.forgetCgroup(id);
      apply(
        set(),
        (now) => releaseCgroup(now, id),
        () => {},
      );
    },
    cgroups: () => apply(set(), listCgroups, () => []),
    crowded: () => apply(set(), crowdedCgroups, () => []),
    guardToken: (pid, descriptor) =>
      apply(
        set(),
        (now) => guardToken(now, pid, descriptor),
        () => {},
      ),
    keepTokens: (pid) =>
      apply(
        set(),
        (now) => keepTokens(now, pid),
        () => {},
      ),
    guardedTokens: () => apply(set(), countTokens, () => 0),
    processes: () => apply(set(), listProcesses, () => []),
    processCount: () => apply(set(), countProcesses, () => 0),
    close: async () => keeper?.close(),
  };
}

function apply<T>(set: ProgramSet | undefined, withPrograms: (set: ProgramSet) => T, without: () => T): T {
  return set === undefined ? without() : withPrograms(set);
}

function once(act: () => void): () => void {
  let done = false;
  return () => {
    if (!done) act();
    done = true;
  };
}

function callAll<T>(listeners: readonly ((value: T) => void)[], value: T): void {
  for (const listener of listeners) listener(value);
}

function listCgroups(set: ProgramSet): bigint[] {
  return mapEntries(set.map('cgroups')).map(({ key }) => key.readBigUInt64LE());
}

function listProcesses(set: ProgramSet): ProtectedProcess[] {
  const processes: ProtectedProcess[] = [];
  visitEntries(set.map('processes'), (key, value) => {
    if (!isDecoy(value)) processes.push(decodeProcess(key));
  });
  return processes;
}

function countProcesses(set: ProgramSet): number {
  let count = 0;
  visitEntries(set.map('processes'), (_key, value) => {
    if (!isDecoy(value)) count += 1;
  });
  return count;
}

const isDecoy = (value: Buffer) => (decodeProtectionFlags(value) & protectionFlags.decoy) !== 0;

/** The kernel detaches a debugger that ends but leaves its target stopped; resume after this time. */
const untilDetachedMs = 100;

/**
 * Resumes a process that stays stopped because its debugger was killed while attaching. Finds no process if the agent
 * does not share the host's PID namespace.
 */
function resumeStoppedProcess({ road, outcome, target }: AccessEvent): void {
  if (road !== 'ptrace' || outcome !== 'killed') return;
  setTimeout(() => resume(target.pid), untilDetachedMs).unref();
}

function resume(pid: number): void {
  if (readProcess(pid)?.state !== 'T') return;
  try {
    process.kill(pid, 'SIGCONT');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/**
 * Covers a process and its descendants in steps, with other work of the agent in between.
 * @param inForce returns the programs in force; the work fails once they differ from `set`
 * @throws SvcError PROCESS_GONE, GUARD_FULL, PROTECTION_UNSETTLED; the signal's reason
 */
export async function protectIncrementally(
  set: ProgramSet,
  inForce: () => ProgramSet | undefined,
  { pid, nextTurn, signal }: { pid: number; nextTurn: NextTurn; signal: AbortSignal },
): Promise<ProcessFacts> {
  const steps = coverSteps(set, pid);
  return takeInTurns(steps, nextTurn, () => {
    // programs that are no longer in force may be closed and must not be used
    if (inForce() !== set) throw unsettled(pid, 'what protects has changed meanwhile');
    if (!signal.aborted && set.ask('inspect', pid).error === 0) return;
    steps.return(undefined as never);
    throw signal.aborted ? signal.reason : gone(pid);
  });
}
