import { tableText } from '../../../runtime/cli/report-table.ts';
import {
  outcomeLine,
  outcomeText,
  printable,
  sectionsText,
  titled,
  wrapped,
} from '../../../runtime/cli/report-text.ts';
import type { Paint } from '../../../runtime/cli/terminal.ts';
import {
  type CheckReport,
  isUnknown,
  pageOf,
  reasonOf,
  styles,
  summaryText,
  type ValidateReport,
  type Word,
  wordOf,
} from '../report.ts';

const width = 98;
const columns = [
  { title: 'RESULT', width: 7 },
  { title: 'ID', width: 20 },
  { title: 'AREA', width: 14 },
  { title: 'CHECK', width: 51 },
] as const;

/** A row a check, then what was found and how to fix it; at most 100 columns. */
export function tableReport(report: ValidateReport, paint: Paint): string {
  const { checks, summary, outcome } = report;
  return sectionsText([
    [
      tableText(
        columns,
        checks.map((check) => row(check, paint)),
      ),
    ],
    titled(
      'Found:',
      checks.filter(({ state }) => state === 'failed').flatMap((one) => found(one, paint)),
      paint,
    ),
    titled('Passed, but not all of it was seen:', checks.flatMap(trustedIn), paint),
    titled('Could not be evaluated:', byReason(checks, 'not-evaluated'), paint),
    titled('Skipped, which is not passed:', byReason(checks, 'skipped'), paint),
    [wrapped(summaryText(summary), width, '  '), outcomeText(outcome, paint)],
  ]);
}

function row(check: CheckReport, paint: Paint) {
  const word = wordOf(check);
  return [
    { text: word, paint: (text: string) => paint(styles[word], text) },
    check.id,
    check.area,
    check.title,
  ];
}

function found(check: CheckReport, paint: Paint): readonly string[] {
  const { id, findings, fix = '' } = check;
  const lines = findings.map(({ level, subject, message, ignored }) =>
    worded(ignored ? 'ignored' : level, `${subject}: ${message}`, paint),
  );
  const unknown = isUnknown(check) ? [worded('unknown', reasonOf(check), paint)] : [];
  const advice = wrapped(`Fix: ${printable(fix)} (${pageOf(id)})`, width - 2, '    ');
  return [paint('bold', id), ...lines, ...unknown, `  ${advice}`];
}

function worded(word: Word, text: string, paint: Paint): string {
  const lines = wrapped(printable(`${word} ${text}`), width - 2, '    ');
  return `  ${paint(styles[word], word)}${lines.slice(word.length)}`;
}

function trustedIn({ id, trusted }: CheckReport): readonly string[] {
  return trusted === undefined ? [] : [wrapped(`${printable(trusted)} ${id}`, width, '    ')];
}

/** One reason is often that of many. */
function byReason(checks: readonly CheckReport[], state: CheckReport['state']): readonly string[] {
  const ids = new Map<string, string[]>();
  for (const check of checks.filter((one) => one.state === state)) {
    const reason = reasonOf(check);
    ids.set(reason, [...(ids.get(reason) ?? []), check.id]);
  }
  return [...ids].map(([reason, some]) => wrapped(`${printable(reason)} ${some.join(' ')}`, width, '    '));
}

/** A line for each finding, each check that said nothing and what was only believed; the summary and the outcome last. */
export function shortReport({ checks, summary, outcome }: ValidateReport): string {
  return [...checks.flatMap(shortLines).map(printable), summaryText(summary), outcomeLine(outcome)].join(
    '\n',
  );
}

function shortLines(check: CheckReport): readonly string[] {
  const { id, state, findings, trusted } = check;
  if (state === 'passed') return trusted === undefined ? [] : [`trusted ${id} ${trusted}`];
  const found = findings.map(
    ({ level, subject, message, ignored }) => `${ignored ? 'ignored' : level} ${id} ${subject}: ${message}`,
  );
  if (isUnknown(check)) return [...found, `unknown ${id} ${reasonOf(check)}`];
  return findings.length > 0 ? found : [`${state} ${id} ${reasonOf(check)}`];
}
