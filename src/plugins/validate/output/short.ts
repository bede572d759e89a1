import { outcomeLine, printable } from '../../../runtime/cli/report-text.ts';
import { type CheckReport, isUnknown, reasonOf, summaryText, type ValidateReport } from '../report.ts';

/** A line for each finding, each check that said nothing and what was only believed; the summary and the outcome last. */
export function shortReport({ checks, summary, outcome }: ValidateReport): string {
  return [...checks.flatMap(lines).map(printable), summaryText(summary), outcomeLine(outcome)].join('\n');
}

function lines(check: CheckReport): readonly string[] {
  const { id, state, findings, trusted } = check;
  if (state === 'passed') return trusted === undefined ? [] : [`trusted ${id} ${trusted}`];
  const found = findings.map(
    ({ level, subject, message, ignored }) => `${ignored ? 'ignored' : level} ${id} ${subject}: ${message}`,
  );
  if (isUnknown(check)) return [...found, `unknown ${id} ${reasonOf(check)}`];
  return findings.length > 0 ? found : [`${state} ${id} ${reasonOf(check)}`];
}
