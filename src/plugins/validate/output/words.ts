import { type Level, levels } from '../../../core/checks/contract.ts';
import { counted } from '../../../core/counted.ts';
import type { Style } from '../../../runtime/cli/terminal.ts';
import { type CheckReport, counting, type Summary } from '../report.ts';

/** What a check came to, in a word: of what failed the heaviest level. */
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

/** Why nothing is known, or why it was passed over; what is missing with it. */
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
