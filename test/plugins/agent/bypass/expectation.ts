import type { AccessPathRow, Fate } from './access-paths.ts';
import type { AttemptRecord } from './driver/records.ts';
import type { JudgedPhase } from './phases.ts';

/** What an attempt comes to for the one who makes it, and what is reported. */
export interface Expectation {
  readonly outcome: AttemptRecord['outcome'];
  /** Of the one hit; undefined: there is none. */
  readonly hit: 'denied' | 'killed' | 'seen' | undefined;
}

/** What a phase has to make of an attack path that leads somewhere. */
export function expectationOf(row: AccessPathRow, phase: JudgedPhase): Expectation {
  if (phase.mode === undefined) return { outcome: 'leaked', hit: undefined };
  const fate = fateOf(row, { ...phase, ...phase.mode });
  if (fate === 'refused') return { outcome: 'refused', hit: undefined };
  if (fate === 'open') return { outcome: 'leaked', hit: undefined };
  if (!isEnforcing(phase)) return { outcome: 'leaked', hit: 'seen' };
  if (fate === 'denied') return { outcome: 'denied', hit: 'denied' };
  return { outcome: row.victimEnds ? 'failed' : 'killed', hit: 'killed' };
}

export interface Situation extends Pick<JudgedPhase, 'tier' | 'by'> {
  /** Default: as where readers are killed. */
  readonly enforce?: boolean;
  readonly kill?: boolean;
}

/** What the tier can do about it; on tier 3, what it would do if readers were killed, and `open` where it looks for none. */
export function fateOf(row: AccessPathRow, { tier, by, enforce = true, kill = true }: Situation): Fate {
  const { hooked = 'denied', traced = 'killed', byCgroup, onlyKilling } = row;
  if (by === 'cgroup' && byCgroup !== undefined) return byCgroup;
  if (tier !== 3) return hooked;
  return onlyKilling && !(enforce && kill) ? 'open' : traced;
}

export function isEnforcing({ tier, mode }: JudgedPhase): boolean {
  return mode?.enforce === true && (tier < 3 || mode.kill);
}
