import type { AccessEvent } from '../../../runtime/protocols/protection/bpf-layouts.ts';
import { type Tier, tierNames } from '../../../runtime/protocols/protection/report.ts';
import type { Preemption } from './preemption.ts';

/** Guards the protected processes of this node, independent of the mechanism in force. */
export interface Guard {
  readonly status: GuardStatus;
  /** Called at each change of the status. */
  onStatus(listener: (status: GuardStatus) => void): void;
  /**
   * Covers a process with all its threads, its existing descendants and everything that it forks from now on. Done when
   * this returns; may be repeated.
   * @param pid in the agent's PID namespace
   * @throws SvcError PROCESS_GONE; GUARD_FULL, GUARD_SHARE_FULL (exit 71); PROTECTION_UNSETTLED (exit 69)
   */
  protect(pid: number): ProcessFacts;
  /**
   * As `protect`, in steps between which the agent does other work; done when it resolves.
   * @throws what `protect` throws; the signal's reason, with part of the processes covered
   */
  protectInTurns(pid: number, signal: AbortSignal): Promise<ProcessFacts>;
  /** The facts that `protect` returns, without covering anything. Undefined if the process does not exist. */
  inspect(pid: number): ProcessFacts | undefined;
  /** Whether a debugger is attached to the process now. In steps, as `protectInTurns`. @throws the signal's reason */
  isTraced(pid: number, signal: AbortSignal): Promise<boolean>;
  /**
   * Covers every present and future process in a cgroup (v2) and below it. Processes already in it also need `protect`
   * to stay covered when they are moved elsewhere. While no programs are in force, the cgroup is remembered and covered
   * later.
   * @throws SvcError GUARD_FULL
   */
  protectCgroup(id: bigint): void;
  releaseCgroup(id: bigint): void;
  /** Ids of the cgroups in the kernel's table, including an earlier agent's; none while no programs are in force. */
  cgroups(): readonly bigint[];
  /**
   * Ids of covered cgroups, and of cgroups below them, that had more processes at a time than the table holds for one.
   * The excess processes are covered by their cgroup, while they stay in it.
   */
  crowded(): readonly bigint[];
  /** Called when the result of `crowded` changes. */
  onCrowded(listener: (cgroups: readonly bigint[]) => void): void;
  /**
   * From now on only this process, and other processes of its pod for which this is called, may open the files of a
   * volume (a tmpfs), while one of them lives. Children do not inherit the right. Does nothing without programs in
   * force.
   * @param descriptor of this agent, of anything in the volume
   * @throws SvcError PROCESS_GONE, GUARD_FULL; Error if the volume cannot be distinguished from others
   */
  guardToken(pid: number, descriptor: number): void;
  /** Lets this process open the files of all guarded volumes. */
  keepTokens(pid: number): void;
  /** Number of guarded volumes, including an earlier agent's. */
  guardedTokens(): number;
  /**
   * All processes that are covered themselves, by registration or inheritance; not those covered by their cgroup only.
   */
  processes(): readonly ProtectedProcess[];
  /**
   * Called for access events on processes other than decoys, in order; one call for equal events that come together.
   */
  onHit(listener: AccessEventListener): void;
  /** Releases everything in this process; pinned programs keep enforcing. */
  close(): Promise<void>;
}

/** @param hit the first of the equal events */
export type AccessEventListener = (hit: AccessEvent, times: Times) => void;

/** How often an event occurred that is equal except for its time. */
export interface Times {
  readonly count: number;
  /** Time of the last occurrence, in nanoseconds since boot. */
  readonly last: bigint;
}

export interface GuardStatus {
  /** Undefined until a canary has decided. */
  readonly tier: Tier | undefined;
  /** Whether reads by others are denied, or the readers killed. */
  readonly enforcing: boolean;
  /** Why the guard does not enforce, as a sentence; empty if it does. */
  readonly reason: string;
  /** Why no higher tier is in force, highest first; ends with the tier in force if that one lacks something. */
  readonly passedOver: readonly { readonly tier: Tier; readonly reason: string }[];
}

export interface ProcessFacts {
  readonly pid: number;
  /** Nanoseconds since boot; identifies the process together with the PID. */
  readonly start: bigint;
  /** Id of the process's cgroup (v2). */
  readonly cgroup: bigint;
  /** Whether another process opened its environment or memory before it was covered, or may have without an agent. */
  readonly openedBefore: boolean;
  /** Whether the process is covered: itself, by inheritance, or by its cgroup. */
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
    const besides = kill ? ' This overrides reactiveKill: true: nothing is killed.' : '';
    return `Enforcement is off (enforceMode: false): attempts are only reported.${besides}`;
  }
  if (tier === 3 && !kill) {
    return `Attempts can only be seen here, not denied, and reactiveKill is off: ${describePassedOver(passedOver)}`;
  }
  if (preemption?.possible && !kill) {
    return `Calls can bypass the programs on this kernel, which preempts (${preemption.because}), and reactiveKill is off: attempts are denied, but those that bypass them are only seen.`;
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
