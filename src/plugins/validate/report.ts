import type { Level, Outcome } from '../../core/checks/contract.ts';
import type { Area } from './settings.ts';

/** `ignored`: all that it says was to be ignored. */
export type State = 'passed' | 'failed' | 'skipped' | 'not-evaluated' | 'ignored';

/** What was checked. `version` is that of this form: members are added, never changed. */
export interface ValidateReport {
  readonly version: 1;
  readonly kind: 'validate';
  readonly summary: Summary;
  readonly checks: readonly CheckReport[];
  /** About the call, such as an id that is not known. */
  readonly warnings: readonly string[];
  readonly outcome: Outcome;
}

export interface CheckReport {
  readonly id: string;
  readonly area: Area;
  readonly title: string;
  readonly state: State;
  /** Empty unless something was found. */
  readonly findings: readonly ReportedFinding[];
  /** Why it was skipped or could not be evaluated, where something was found in part; of what passed a remark. */
  readonly reason?: string;
  /** Of what passed, what was believed and not seen. */
  readonly trusted?: string;
  /** What is missing. */
  readonly permission?: string;
  /** Where something was found. */
  readonly fix?: string;
}

export interface ReportedFinding {
  readonly level: Level;
  readonly subject: string;
  readonly message: string;
  /** It does not count. */
  readonly ignored?: true;
}

export interface Summary {
  readonly checks: number;
  readonly passed: number;
  /** Found something that counts, whatever its level. */
  readonly failed: number;
  readonly skipped: number;
  /** As a whole. */
  readonly notEvaluated: number;
  readonly ignored: number;
  /** Those that count. */
  readonly findings: Readonly<Record<Level, number>>;
}

/** Some of it could not be evaluated, or all. */
export const isUnknown = ({ state, reason }: CheckReport): boolean =>
  state === 'not-evaluated' || (state === 'failed' && reason !== undefined);

/** Of one check, what counts. */
export function counting({ findings }: CheckReport): readonly ReportedFinding[] {
  return findings.filter(({ ignored }) => ignored !== true);
}
