import { checkStatus, type FailOn, type Level, type Outcome } from '../../core/checks/contract.ts';
import { countLevels, outcomeOf } from '../../core/checks/outcome.ts';
import type { Check, CheckResult } from './contract.ts';
import {
  type CheckReport,
  counting,
  isUnknown,
  type ReportedFinding,
  type Summary,
  type ValidateReport,
} from './report.ts';
import type { Ignores } from './selection/ignores.ts';

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

/** Ids of the checks with findings of that level that count. */
function idsWith(level: Level, checks: readonly CheckReport[]): string[] {
  return checks.filter((one) => counting(one).some((finding) => finding.level === level)).map(({ id }) => id);
}

/** That this machine could run svc says nothing of what somebody wanted to have checked. */
const unchecked: Outcome = {
  result: 'warnings',
  exitStatus: checkStatus.warnings,
  reasons: ['Nothing was checked: no secrets server, bucket or configuration file is named.'],
};

/** Everything that needs a server was to be looked at, and none is named; nor is a configuration file. */
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
    return { ...known, state: allIgnored ? otherwise : 'failed', findings, fix, ...unknown };
  }
  if (result.state === 'passed') {
    const { note, trusted } = result;
    return {
      ...{ ...known, state: 'passed', findings: [] },
      ...(note !== undefined && { reason: note }),
      ...(trusted !== undefined && { trusted }),
    };
  }
  if (result.state === 'skipped') return { ...known, state: 'skipped', findings: [], reason: result.reason };
  const { reason, permission } = result;
  const state = ignored ? 'ignored' : 'not-evaluated';
  return { ...known, state, findings: [], reason, ...(permission !== undefined && { permission }) };
}

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

/** Where nothing was looked at, nothing was found out either. */
function notFoundOut(checks: readonly CheckReport[], summary: Summary): readonly string[] {
  const named = checks.filter(isUnknown).map(({ id }) => id);
  if (named.length > 0) return [`${named.join(', ')}.`];
  return summary.passed + summary.failed + summary.ignored === 0 ? ['Nothing was checked.'] : [];
}
