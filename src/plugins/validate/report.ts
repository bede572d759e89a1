import { existsSync } from 'node:fs';
import type { Style } from '../../runtime/cli/terminal.ts';
import { packageFolder } from '../../runtime/component/package-folder.ts';
import {
  type CheckOutcome,
  checkStatus,
  countLevels,
  type FailOn,
  type Level,
  levels,
  outcomeOf,
} from '../../runtime/report/check-outcome.ts';
import { counted } from '../../runtime/units.ts';
import type { Check, CheckResult, ExaminedObject } from './check.ts';
import type { Ignores } from './registry.ts';
import type { Area } from './settings.ts';

export interface Checked {
  readonly check: Check;
  readonly result: CheckResult;
}

export function makeReport(checked: readonly Checked[], failOn: FailOn, ignores: Ignores): ValidateReport {
  const checks = checked.map((one) => checkReport(one, ignores));
  const summary = summaryOf(checks);
  const named = { error: idsWith('error', checks), warning: idsWith('warning', checks) };
  const found = outcomeOf(summary.findings, failOn, [], notFoundOut(checks, summary), named);
  const outcome = found.result === 'passed' && nothingNamed(checked) ? unchecked : found;
  return { version: 1, kind: 'validate', summary, checks, warnings: ignores.warnings, outcome };
}

/** Ids of the checks with findings of this level that count. */
function idsWith(level: Level, checks: readonly CheckReport[]): string[] {
  return checks.filter((one) => counting(one).some((finding) => finding.level === level)).map(({ id }) => id);
}

/** Only local checks ran, which do not answer what the caller wanted to know. */
const unchecked: CheckOutcome = {
  result: 'warnings',
  exitStatus: checkStatus.warnings,
  reasons: ['Nothing was checked: no secrets server, bucket or configuration file is named.'],
};

/** Whether all checks that need a server were selected, but no server and no configuration file is named. */
function nothingNamed(checked: readonly Checked[]): boolean {
  const needing = checked.filter(({ check: { needs } }) => needs !== 'none' && needs !== 'node');
  const told = checked.filter(({ check: { id, needs } }) => needs === 'node' || id === sectionsCheck);
  const kinds = new Set(needing.map(({ check: { needs } }) => needs));
  return (
    kinds.has('vault') &&
    kinds.has('store') &&
    [...needing, ...told].every(({ result }) => result.state === 'skipped')
  );
}

const sectionsCheck = 'SVC-CONFIG-002';

function checkReport({ check, result }: Checked, ignores: Ignores): CheckReport {
  const { id, area, title, fix } = check;
  const known = { id, area, title };
  const ignored = ignores.ignoresCheck(id);
  if (result.state === 'failed') {
    const findings = result.failures.map(({ level = check.level, subject, message }): ReportedFinding => {
      const apart = ignores.ignoresSubject(id, subject);
      return { level, subject, message, ...(apart && { ignored: true }) };
    });
    const unknown = ignored ? undefined : result.unknown;
    const allIgnored = findings.length > 0 && findings.every((finding) => finding.ignored);
    const otherwise = unknown === undefined ? 'ignored' : 'not-evaluated';
    const state = allIgnored ? otherwise : 'failed';
    return { ...known, state, findings, fix, ...unknown, ...examinedIn(result) };
  }
  if (result.state === 'passed') {
    const { note, trusted } = result;
    return {
      ...known,
      state: 'passed',
      findings: [],
      ...(note !== undefined && { reason: note }),
      ...(trusted !== undefined && { trusted }),
      ...examinedIn(result),
    };
  }
  if (result.state === 'skipped') return { ...known, state: 'skipped', findings: [], reason: result.reason };
  const { reason, permission } = result;
  const state = ignored ? 'ignored' : 'not-evaluated';
  return { ...known, state, findings: [], reason, ...(permission !== undefined && { permission }) };
}

const examinedIn = ({ examined }: Pick<CheckReport, 'examined'>) => examined && { examined };

function summaryOf(checks: readonly CheckReport[]): Summary {
  const count = (state: CheckReport['state']) => checks.filter((one) => one.state === state).length;
  return {
    checks: checks.length,
    passed: count('passed'),
    failed: count('failed'),
    skipped: count('skipped'),
    notEvaluated: count('not-evaluated'),
    ignored: count('ignored'),
    findings: countLevels(checks.flatMap(counting)),
  };
}

/** Reasons for "could not be evaluated", also if nothing at all was checked. */
function notFoundOut(checks: readonly CheckReport[], summary: Summary): readonly string[] {
  const named = checks.filter(isUnknown).map(({ id }) => id);
  if (named.length > 0) return [`${named.join(', ')}.`];
  return summary.passed + summary.failed + summary.ignored === 0 ? ['Nothing was checked.'] : [];
}

/** `ignored`: all findings of the check are ignored. */
export type State = 'passed' | 'failed' | 'skipped' | 'not-evaluated' | 'ignored';

/** The report. `version` is the version of this format: members are added, never changed. */
export interface ValidateReport {
  readonly version: 1;
  readonly kind: 'validate';
  readonly summary: Summary;
  readonly checks: readonly CheckReport[];
  /** About the call, such as an unknown id. */
  readonly warnings: readonly string[];
  readonly outcome: CheckOutcome;
}

export interface CheckReport {
  readonly id: string;
  readonly area: Area;
  readonly title: string;
  readonly state: State;
  /** Empty unless there are findings. */
  readonly findings: readonly ReportedFinding[];
  /** Why the check was skipped, or could not be evaluated in part or at all; for a passed check, a note. */
  readonly reason?: string;
  /** For a passed check, what was assumed without verification. */
  readonly trusted?: string;
  /** The missing permission. */
  readonly permission?: string;
  /** Present if there are findings. */
  readonly fix?: string;
  /** Results for single objects, for checks that report each of them. */
  readonly examined?: readonly ExaminedObject[];
}

export interface ReportedFinding {
  readonly level: Level;
  readonly subject: string;
  readonly message: string;
  /** Present if the finding does not count. */
  readonly ignored?: true;
}

interface Summary {
  readonly checks: number;
  readonly passed: number;
  /** Checks with findings that count, of any level. */
  readonly failed: number;
  readonly skipped: number;
  /** Checks that could not be evaluated at all. */
  readonly notEvaluated: number;
  readonly ignored: number;
  /** Findings that count. */
  readonly findings: Readonly<Record<Level, number>>;
}

/** Whether the check could not be evaluated, in part or at all. */
export const isUnknown = ({ state, reason }: CheckReport): boolean =>
  state === 'not-evaluated' || (state === 'failed' && reason !== undefined);

/** The findings of one check that count. */
export function counting({ findings }: CheckReport): readonly ReportedFinding[] {
  return findings.filter(({ ignored }) => ignored !== true);
}

/** The result of a check in one word; for a failed check, the highest level. */
export type Word = 'passed' | Level | 'skipped' | 'unknown' | 'ignored';

export function wordOf(check: CheckReport): Word {
  if (check.state === 'not-evaluated') return 'unknown';
  if (check.state !== 'failed') return check.state;
  const found = counting(check);
  return levels.find((level) => found.some((finding) => finding.level === level)) ?? 'ignored';
}

export const styles: Readonly<Record<Word, Style>> = {
  passed: 'green',
  error: 'red',
  warning: 'yellow',
  info: 'cyan',
  skipped: 'dim',
  unknown: 'red',
  ignored: 'dim',
};

/** Why the check was not evaluated or skipped, with the missing permission. */
export function reasonOf({ reason = '', permission }: CheckReport): string {
  return permission === undefined ? reason : `${reason} (missing permission: ${permission})`;
}

export function summaryText({ checks, passed, skipped, notEvaluated, ignored, findings }: Summary): string {
  const parts = [
    `${passed} passed`,
    counted(findings.error, 'error'),
    counted(findings.warning, 'warning'),
    ...(findings.info > 0 ? [`${findings.info} for information`] : []),
    `${skipped} skipped`,
    `${notEvaluated} could not be evaluated`,
    ...(ignored > 0 ? [`${ignored} ignored`] : []),
  ];
  return `${counted(checks, 'check')}: ${parts.join(', ')}.`;
}

/** The page of a check, relative to the root of the package. */
export const pageOf = (id: string): string => `docs/CHECKS.md#${id.toLowerCase()}`;

/** The same as an absolute URI; undefined if the page is not installed. */
export function pageUri(id: string): string | undefined {
  const page = new URL('docs/CHECKS.md', packageFolder());
  return existsSync(page) ? `${page.href}#${id.toLowerCase()}` : undefined;
}
