import { decodeProcess, decodeProtectionFlags, protectionFlags } from '../../../core/protection/layouts.ts';
import { mapEntries, visitEntries } from '../../../runtime/bpf/map-batch.ts';
import type { Guard, GuardStatus, HitListener, ProtectedProcess } from './contract.ts';
import { coverCgroup, coverProcess, inspectProcess, releaseCgroup } from './cover.ts';
import { coverInTurns } from './cover-in-turns.ts';
import { crowdedCgroups } from './crowds.ts';
import { type Keeper, type KeeperOptions, startKeeper } from './keeper.ts';
import { letGoOn } from './let-go-on.ts';
import type { ProgramSet } from './program-set.ts';
import { undecided } from './status.ts';
import { createTurns } from './turns.ts';
import { createUnguarded, uncoveredFacts } from './unguarded.ts';

export type GuardOptions = Omit<KeeperOptions, 'onHit' | 'onUnknown' | 'onStatus' | 'onCrowded' | 'catchUp'>;

/** A guard that has yet to begin; until then it is undecided, and what it is asked to cover waits. */
export interface StartingGuard extends Guard {
  /** Resolves when a tier is in force, or when it is clear that none can be. */
  start(): Promise<void>;
  /** How many `processes` would list. */
  processCount(): number;
}

export function createGuard(options: GuardOptions): StartingGuard {
  const hitListeners: HitListener[] = [];
  const statusListeners: ((status: GuardStatus) => void)[] = [];
  const crowdListeners: ((cgroups: readonly bigint[]) => void)[] = [];
  const unguarded = createUnguarded();
  let keeper: Keeper | undefined;
  const set = () => keeper?.set;
  const nextTurn = createTurns();
  return {
    async start() {
      keeper = await startKeeper({
        ...options,
        onHit(hit, times) {
          letGoOn(hit);
          for (const listener of hitListeners) listener(hit, times);
        },
        onUnknown: once(() => options.log.warn('hits.unknown')),
        // the first one is told when the guard can be asked
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
        (now) => coverInTurns(now, set, { pid, nextTurn, signal }),
        async () => unguarded.remember(pid),
      ),
    inspect: (pid) =>
      apply(
        set(),
        (now) => inspectProcess(now, pid),
        () => uncoveredFacts(pid),
      ),
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
    processes: () => apply(set(), listProcesses, () => []),
    processCount: () => apply(set(), countProcesses, () => 0),
    close: async () => keeper?.close(),
  };
}

/** One thing where a set of programs is in force, another where there is none. */
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
