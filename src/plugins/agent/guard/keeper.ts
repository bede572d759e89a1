import { randomInt } from 'node:crypto';
import type { Tier } from '../../../core/protection/report.ts';
import { mapEntries } from '../../../runtime/bpf/map.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
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
  /** Bits of `leftAlone`: what is not guarded; default: nothing. */
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
  /** Covers the processes that could not be covered before. */
  readonly catchUp: (set: ProgramSet) => void;
}

/** Keeps the highest tier that works in force, and checks in every pass whether it still does. */
export interface GuardKeeper {
  /** Undefined while no tier works. */
  readonly set: ProgramSet | undefined;
  readonly status: GuardStatus;
  close(): Promise<void>;
}

/** Where nothing works, everything is tried again after so many passes: it costs some tenths of a second. */
const passesWithoutTier = 15;
/** It starts a process of its own, which is to be killed. */
const passesBetweenDeadlyCanaries = 30;
/** What a higher tier lacked may be available by now. */
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
  // what was covered while the new one was being proven
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

/** What it costs is seen by what is attached. */
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

/** A pass begins at once when settings were changed: until those are restored, the programs obey them. */
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

/** The preemption mode may change while the kernel runs; from then on, calls that bypass the hooks are looked for. */
async function followPreemption(state: State, inForce: InForce, options: KeeperOptions): Promise<void> {
  const preemption = preemptionOf(inForce.set);
  if (preemption.possible === inForce.preemption.possible) return;
  if (preemption.possible) inForce.set.attachAfterHooks();
  state.inForce = { ...inForce, preemption };
  logAttached(state.inForce, options.log);
  announce(state, state.status.passedOver, options);
}

/** Tries the tiers above the one in force. */
async function climb(state: State, { set }: InForce, options: KeeperOptions): Promise<void> {
  const higher = options.tiers.slice(0, options.tiers.indexOf(set.tier));
  if (higher.length > 0) await choose(state, options, higher);
}

/** @returns what is wrong with the tier in force */
function examine(state: State, { set, mode }: InForce): Promise<string | undefined> {
  const isDeadly = state.passes % passesBetweenDeadlyCanaries === 0;
  return tryPatiently(() =>
    (isDeadly ? tryAll : tryQuick)(state.decoys, mode, set).catch((error: Error) => error.message),
  );
}

/** Sets share maps by their pins. If somebody has removed a pin, its entries are copied. */
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
  /** Cheap, and asked every 250 ms between passes: whether the next pass begins at once. That pass meets what it throws. */
  readonly isUrgent: () => boolean;
  /** Settles, whatever happens. */
  readonly pass: () => Promise<void>;
}

const glanceMs = 250;

/** A timer's error would end the agent. */
function answered(isUrgent: () => boolean): boolean {
  try {
    return isUrgent();
  } catch {
    return false;
  }
}

/**
 * Passes, one after the other. Not `startPeriodic`: a pause of that one ends early by a call of `wake`, and nobody calls when
 * somebody changes the settings in the kernel.
 * @returns what ends them, and resolves when the last one has ended
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
