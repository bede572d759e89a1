import { randomInt } from 'node:crypto';
import type { Logger } from '../../../runtime/logging/logger.ts';
import type { Tier } from '../../../runtime/protocols/protection/report.ts';
import { mapEntries } from '../bpf/map.ts';
import {
  type AccessEventListener,
  describePassedOver,
  type GuardStatus,
  type Mode,
  type PassedOver,
  sameStatus,
  statusOf,
  undecided,
} from './contract.ts';
import { sweepGone } from './descendants.ts';
import { chooseTier, type InForce } from './establish.ts';
import { createCrowdWatch, createLateWatch, readTallies, type Tallies } from './map-readings.ts';
import { preemptionOf } from './preemption.ts';
import {
  changedSetting,
  findTampering,
  forgetUnloaded,
  ownLinkFolders,
  type ProgramSet,
  restoreSettings,
  unpin,
} from './program-set.ts';
import { createDecoys, type Decoys, tryAll, tryPatiently, tryQuick } from './trial.ts';

export interface KeeperOptions extends Mode {
  /** On a BPF file system. */
  readonly folder: string;
  /** Bits of `leftAlone`: what not to guard; default: nothing. */
  readonly left?: number;
  /** Tried in this order. */
  readonly tiers: readonly Tier[];
  /** Between two canaries. */
  readonly intervalMs: number;
  readonly log: Logger;
  readonly onHit: AccessEventListener;
  readonly onUnknown: () => void;
  readonly onStatus: (status: GuardStatus) => void;
  readonly onTallies: (tallies: Tallies) => void;
  readonly onCanary: (failed: boolean) => void;
  /** Called when they change: ids of the cgroups with more processes than the table holds for one cgroup. */
  readonly onCrowded: (cgroups: readonly bigint[]) => void;
  /** Covers the processes whose coverage was requested before programs were in force. */
  readonly catchUp: (set: ProgramSet) => void;
}

/** Keeps the highest tier that works in force, and checks in every pass whether it still does. */
export interface GuardKeeper {
  /** Undefined while no tier works. */
  readonly set: ProgramSet | undefined;
  readonly status: GuardStatus;
  close(): Promise<void>;
}

/** While no tier works, all are tried again after so many passes: a trial takes some tenths of a second. */
const passesWithoutTier = 15;
/** A deadly canary is expensive: it starts a process to be killed. */
const passesBetweenDeadlyCanaries = 30;
/** How often higher tiers are tried again: what one lacked may have become available. */
const passesBetweenClimbs = 150;
const passesBetweenCleanUps = 60;

/** Resolves when a tier is in force, or none can be. */
export async function startKeeper(options: KeeperOptions): Promise<GuardKeeper> {
  const state: State = { status: undecided, inForce: undefined, passes: 0, decoys: createDecoys() };
  forgetUnloaded(options.folder);
  await choose(state, options);
  const stop = keepPassing(state, options);
  return {
    get set() {
      return state.inForce?.set;
    },
    get status() {
      return state.status;
    },
    async close() {
      await stop();
      release(state.inForce);
      state.inForce = undefined;
      state.decoys.end();
    },
  };
}

interface State {
  status: GuardStatus;
  inForce: InForce | undefined;
  readonly decoys: Decoys;
  passes: number;
}

/** @param tiers fewer than all: if none of them works, the tier in force stays */
async function choose(state: State, options: KeeperOptions, tiers = options.tiers): Promise<void> {
  const { folder, enforce, kill, left = 0, onHit, onUnknown, catchUp } = options;
  const before = state.inForce;
  const generation = randomInt(1, 2 ** 31);
  const { inForce, passedOver } = await chooseTier(tiers, {
    folder,
    generation,
    enforce,
    kill,
    left,
    decoys: state.decoys,
    onHit,
    onUnknown,
    carryOver(set) {
      if (before !== undefined) carryOver(before.set, set);
      catchUp(set);
    },
  });
  if (inForce === undefined && tiers !== options.tiers) return;
  state.inForce = inForce;
  // copies what was covered while the new set was being proven
  if (before !== undefined && inForce !== undefined) carryOver(before.set, inForce.set);
  release(before);
  if (inForce !== undefined) {
    unpinOthers(folder, inForce.set.generation);
    logAttached(inForce, options.log);
  }
  announce(state, passedOver, options);
}

/** Pins of other sets are removed only when the new set enforces. */
function unpinOthers(folder: string, generation: number): void {
  for (const path of ownLinkFolders(folder)) if (!path.endsWith(`-${generation}`)) unpin(path);
}

function release(inForce: InForce | undefined): void {
  inForce?.pump.close();
  inForce?.set.close();
}

/** The attached programs tell what the guard costs. */
function logAttached({ set, preemption }: InForce, log: Logger): void {
  const programs = set.attached().join(' ');
  log.info('guard.attached', {
    tier: set.tier,
    programs,
    passable: preemption.possible,
    because: preemption.because,
  });
}

function announce(state: State, passedOver: PassedOver, options: KeeperOptions): void {
  const { inForce } = state;
  const status = statusOf(inForce?.set.tier ?? 4, options, passedOver, inForce?.preemption);
  const changed = !sameStatus(status, state.status);
  state.status = status;
  if (!changed) return;
  const level = status.enforcing ? 'info' : 'warn';
  options.log[level]('guard.tier', {
    tier: status.tier,
    enforcing: status.enforcing,
    reason: status.reason || undefined,
    passed_over: describePassedOver(passedOver) || undefined,
  });
  options.onStatus(status);
}

/** A pass begins at once if somebody has changed settings: the programs obey them until they are restored. */
function keepPassing(state: State, options: KeeperOptions): () => Promise<void> {
  const checkLate = createLateWatch();
  const checkCrowds = createCrowdWatch(options.onCrowded);
  return startGuardPasses({
    intervalMs: options.intervalMs,
    isUrgent: () => state.inForce !== undefined && changedSetting(state.inForce.set) !== undefined,
    pass: () =>
      runPass(state, options, { checkLate, checkCrowds }).catch((error: Error) =>
        options.log.error('guard.beat.failed', { error: error.message }),
      ),
  });
}

interface Checks {
  readonly checkLate: ReturnType<typeof createLateWatch>;
  readonly checkCrowds: ReturnType<typeof createCrowdWatch>;
}

async function runPass(
  state: State,
  options: KeeperOptions,
  { checkLate, checkCrowds }: Checks,
): Promise<void> {
  state.passes += 1;
  if (state.inForce === undefined) {
    if (state.passes % passesWithoutTier === 0) await choose(state, options);
    return;
  }
  const wrong = findTampering(state.inForce.set, options.folder) ?? (await examine(state, state.inForce));
  options.onCanary(wrong !== undefined);
  if (wrong !== undefined) {
    options.log.error('guard.canary.failed', { tier: state.inForce.set.tier, error: wrong });
    restoreSettings(state.inForce.set);
    return choose(state, options);
  }
  if (state.passes % passesBetweenCleanUps === 0) sweepGone(state.inForce.set);
  if (state.passes % passesBetweenClimbs === 0) await climb(state, state.inForce, options);
  const tallies = readTallies(state.inForce.set);
  await followPreemption(state, state.inForce, options);
  checkLate(state.inForce.set, tallies);
  checkCrowds(state.inForce.set);
  options.onTallies(tallies);
}

/** The preemption mode may change while the kernel runs; then calls that bypass the hooks must be looked for. */
async function followPreemption(state: State, inForce: InForce, options: KeeperOptions): Promise<void> {
  const preemption = preemptionOf(inForce.set);
  if (preemption.possible === inForce.preemption.possible) return;
  if (preemption.possible) inForce.set.attachAfterHooks();
  state.inForce = { ...inForce, preemption };
  logAttached(state.inForce, options.log);
  announce(state, state.status.passedOver, options);
}

async function climb(state: State, { set }: InForce, options: KeeperOptions): Promise<void> {
  const higher = options.tiers.slice(0, options.tiers.indexOf(set.tier));
  if (higher.length > 0) await choose(state, options, higher);
}

/** @returns why the tier in force does not work; undefined if it does */
function examine(state: State, { set, mode }: InForce): Promise<string | undefined> {
  const isDeadly = state.passes % passesBetweenDeadlyCanaries === 0;
  return tryPatiently(() =>
    (isDeadly ? tryAll : tryQuick)(state.decoys, mode, set).catch((error: Error) => error.message),
  );
}

/** Sets share maps by their pins. Copies the entries of a map whose pin somebody has removed. */
function carryOver(from: ProgramSet, to: ProgramSet): void {
  for (const name of ['processes', 'cgroups', 'crowds', 'tokens', 'token_openers', 'token_keepers']) {
    const target = to.map(name);
    if (target.facts.id === from.map(name).facts.id) continue;
    for (const { key, value } of mapEntries(from.map(name))) {
      if (target.lookup(key) === undefined) target.update(key, value);
    }
  }
}

export interface GuardPassOptions {
  /** Milliseconds between the end of one pass and the next. */
  readonly intervalMs: number;
  /**
   * Whether to begin the next pass at once; cheap, called every 250 ms. An error counts as no: the next pass meets it.
   */
  readonly isUrgent: () => boolean;
  /** Must never reject. */
  readonly pass: () => Promise<void>;
}

const glanceMs = 250;

/** Catches errors, because an error in a timer would end the agent. */
function answered(isUrgent: () => boolean): boolean {
  try {
    return isUrgent();
  } catch {
    return false;
  }
}

/**
 * Runs passes, one after the other. Not `startPeriodic`, whose pause only a call of `wake` ends early: nobody calls it
 * when somebody changes the settings in the kernel.
 * @returns a function that ends the passes, and resolves when the last one has ended
 */
export function startGuardPasses({ intervalMs, isUrgent, pass }: GuardPassOptions): () => Promise<void> {
  let running = Promise.resolve();
  let ended = false;
  let timer: NodeJS.Timeout | undefined;
  const glance = (leftMs: number) => {
    const pauseMs = Math.min(glanceMs, leftMs);
    timer = setTimeout(() => {
      if (leftMs > pauseMs && !answered(isUrgent)) glance(leftMs - pauseMs);
      else running = pass().then(() => (ended ? undefined : glance(intervalMs)));
    }, pauseMs);
  };
  glance(intervalMs);
  return async () => {
    ended = true;
    clearTimeout(timer);
    await running;
  };
}
