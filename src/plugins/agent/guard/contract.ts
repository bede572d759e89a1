import type { AccessEvent } from '../../../core/protection/bpf-layouts.ts';
import { type Tier, tierNames } from '../../../core/protection/report.ts';
import type { Preemption } from './preemption.ts';

/** What guards the protected processes of this node, whatever mechanism is in force. */
export interface Guard {
  readonly status: GuardStatus;
  /** Called at each change of the status. */
  onStatus(listener: (status: GuardStatus) => void): void;
  /**
   * Covers a process with all its threads, and what it forks from now on; the descendants that it has already, too.
   * Done when this returns; harmless when repeated.
   * @param pid as the agent's PID namespace numbers it
   * @throws SvcError PROCESS_GONE; GUARD_FULL, GUARD_SHARE_FULL (exit 71); PROTECTION_UNSETTLED (exit 69)
   */
  protect(pid: number): ProcessFacts;
  /**
   * The same, done when it resolves: the agent does other work in between.
   * @throws what `protect` throws; the signal's reason, with some of them covered
   */
  protectInTurns(pid: number, signal: AbortSignal): Promise<ProcessFacts>;
  /** The same facts without a change. Undefined for a process that is not there. */
  inspect(pid: number): ProcessFacts | undefined;
  /**
   * Covers every process in a cgroup (v2) and below it, present and future. Those that are in it already want
   * `protect` besides: only then do they stay covered wherever they are moved. While no programs are in force it is
   * remembered, and covered when some are.
   * @throws SvcError GUARD_FULL
   */
  protectCgroup(id: bigint): void;
  releaseCgroup(id: bigint): void;
  /** Ids of the cgroups in the kernel's table, those of an earlier agent too; none while no programs are in force. */
  cgroups(): readonly bigint[];
  /**
   * Those of them, and below them, that had more processes at a time than the table keeps for one: the processes beyond
   * are covered by the cgroup, as long as they stay in it.
   */
  crowded(): readonly bigint[];
  /** Called when these are others. */
  onCrowded(listener: (cgroups: readonly bigint[]) => void): void;
  /**
   * Only this process, and others of its pod for which the same is asked, open the files of a volume (a tmpfs) from now
   * on, for as long as one of them lives. Nobody inherits that. Without programs in force nothing is done.
   * @param descriptor of the agent's own, of anything in the volume
   * @throws SvcError PROCESS_GONE, GUARD_FULL; Error where the volume cannot be told from others
   */
  guardToken(pid: number, descriptor: number): void;
  /** This process opens all of them. */
  keepTokens(pid: number): void;
  /** How many volumes are guarded, those of an earlier agent included. */
  guardedTokens(): number;
  /** All processes that are registered or inherit it; those that only their cgroup covers are not listed. */
  processes(): readonly ProtectedProcess[];
  /** Called for hits on processes that are no decoys, in order; equal ones that came together are one call. */
  onHit(listener: AccessEventListener): void;
  /** Lets go of everything in this process; what is pinned goes on guarding. */
  close(): Promise<void>;
}

/** @param hit the first of them */
export type AccessEventListener = (hit: AccessEvent, times: Times) => void;

/** How often something came that differs in nothing but its time. */
export interface Times {
  readonly count: number;
  /** Of the last one, in nanoseconds since boot. */
  readonly last: bigint;
}

export interface GuardStatus {
  /** Undefined until a canary has decided. */
  readonly tier: Tier | undefined;
  /** Reads by others are denied, or their readers killed. */
  readonly enforcing: boolean;
  /** Why it does not enforce, as a sentence; empty when it does. */
  readonly reason: string;
  /** Why no higher tier is in force, highest first; the tier in force itself comes last where it lacks something. */
  readonly passedOver: readonly { readonly tier: Tier; readonly reason: string }[];
}

export interface ProcessFacts {
  readonly pid: number;
  /** Nanoseconds since boot; with the PID it names the process for good. */
  readonly start: bigint;
  /** Id of its cgroup (v2). */
  readonly cgroup: bigint;
  /** A debugger is attached, at the time when this is read. */
  readonly traced: boolean;
  /** Somebody else opened its environment or memory before it was covered, or may have: the agent was not there. */
  readonly openedBefore: boolean;
  /** It is covered, itself or by its parents or its cgroup. */
  readonly covered: boolean;
}

export interface ProtectedProcess {
  readonly pid: number;
  readonly start: bigint;
}

export interface Mode {
  readonly enforce: boolean;
  readonly kill: boolean;
}

export type PassedOver = GuardStatus['passedOver'];

export const undecided: GuardStatus = {
  tier: undefined,
  enforcing: false,
  reason: 'The canary has not decided yet.',
  passedOver: [],
};

/** @param preemption of the tier in force */
export function statusOf(
  tier: Tier,
  mode: Mode,
  passedOver: PassedOver,
  preemption?: Preemption,
): GuardStatus {
  const reason = whyNotEnforcing(tier, mode, passedOver, preemption);
  return { tier, enforcing: reason === '', reason, passedOver };
}

function whyNotEnforcing(
  tier: Tier,
  { enforce, kill }: Mode,
  passedOver: PassedOver,
  preemption: Preemption | undefined,
): string {
  if (tier === 4) return `No BPF program works here: ${describePassedOver(passedOver)}`;
  if (!enforce) {
    const besides = kill ? ' It wins over reactiveKill: true, and nothing is killed.' : '';
    return `Enforcement is switched off (enforceMode: false); attempts are reported only.${besides}`;
  }
  if (tier === 3 && !kill) {
    return `Attempts can only be seen here, not denied, and reactiveKill is off: ${describePassedOver(passedOver)}`;
  }
  if (preemption?.possible && !kill) {
    return `Calls may pass by the programs on this kernel, which preempts (${preemption.because}), and reactiveKill is off: attempts are denied, and those that pass by are only seen.`;
  }
  return '';
}

export function describePassedOver(passedOver: PassedOver): string {
  return passedOver.map(({ tier, reason }) => `${tierNames[tier]}: ${reason}`).join('; ');
}

export function sameStatus(one: GuardStatus, other: GuardStatus): boolean {
  return (
    one.tier === other.tier &&
    one.enforcing === other.enforcing &&
    one.reason === other.reason &&
    describePassedOver(one.passedOver) === describePassedOver(other.passedOver)
  );
}
