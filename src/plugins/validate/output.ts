import { escapeXml } from '../../objects/s3/xml-text.ts';
import type { Paint } from '../../runtime/cli/terminal.ts';
import type { FailOn } from '../../runtime/report/check-outcome.ts';
import { coloured, tableText } from '../../runtime/report/report-table.ts';
import {
  outcomeLine,
  outcomeText,
  printable,
  sectionsText,
  titled,
  reportWidth as width,
  wrapped,
} from '../../runtime/report/report-text.ts';
import {
  type SarifFinding,
  type SarifNotification,
  type SarifRule,
  sarifLog,
} from '../../runtime/report/sarif.ts';
import { checks } from './registry.ts';
import {
  type CheckReport,
  counting,
  isUnknown,
  pageOf,
  pageUri,
  type ReportedFinding,
  reasonOf,
  styles,
  summaryText,
  type ValidateReport,
  type Word,
  wordOf,
} from './report.ts';

const columns = [
  { title: 'RESULT', width: 7 },
  { title: 'ID', width: 20 },
  { title: 'AREA', width: 14 },
  { title: 'CHECK', width: 51 },
] as const;

/** One row per check, then findings and fixes; at most 100 columns. */
export function tableReport(report: ValidateReport, paint: Paint): string {
  const { checks, summary, outcome } = report;
  return sectionsText([
    [tableText(columns, checks.map(row(paint)))],
    titled(
      'Found:',
      checks.filter(({ state }) => state === 'failed').flatMap((one) => found(one, paint)),
      paint,
    ),
    titled('Examined one by one:', checks.flatMap(examinedIn), paint),
    titled('Passed, but not all of it was seen:', checks.flatMap(trustedIn), paint),
    titled('Could not be evaluated:', byReason(checks, 'not-evaluated'), paint),
    titled('Skipped, which is not passed:', byReason(checks, 'skipped'), paint),
    [wrapped(summaryText(summary), width, '  '), outcomeText(outcome, paint)],
  ]);
}

const row = (paint: Paint) => (check: CheckReport) => {
  const word = wordOf(check);
  return [coloured(paint, styles[word], word), check.id, check.area, check.title];
};

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

function examinedIn({ id, examined = [] }: CheckReport): readonly string[] {
  return examined.map(({ subject, found }) =>
    wrapped(`${printable(`${subject}: ${found}`)} ${id}`, width, '    '),
  );
}

/** Groups checks by reason, because many often share one. */
function byReason(checks: readonly CheckReport[], state: CheckReport['state']): readonly string[] {
  const ids = new Map<string, string[]>();
  for (const check of checks.filter((one) => one.state === state)) {
    const reason = reasonOf(check);
    ids.set(reason, [...(ids.get(reason) ?? []), check.id]);
  }
  return [...ids].map(([reason, some]) => wrapped(`${printable(reason)} ${some.join(' ')}`, width, '    '));
}

/** A line for each finding, each check without a result and each assumption; then summary and outcome. */
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

/** One test suite per area, one test case per check. Findings below `failOn` are output of the case. */
export function junitReport({ checks }: ValidateReport, failOn: FailOn): string {
  const areas = [...new Set(checks.map(({ area }) => area))];
  const suites = areas.map((area) =>
    suite(
      area,
      checks.filter((one) => one.area === area),
      failOn,
    ),
  );
  const totals = counts(checks, failOn);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="svc validate"${totals}>\n${suites.join('\n')}\n</testsuites>`;
}

function suite(area: string, checks: readonly CheckReport[], failOn: FailOn): string {
  const cases = checks.map((check) => testCase(check, failOn));
  return `  <testsuite name="${area}"${counts(checks, failOn)}>\n${cases.join('\n')}\n  </testsuite>`;
}

function counts(checks: readonly CheckReport[], failOn: FailOn): string {
  const count = (that: (one: CheckReport) => boolean) => checks.filter(that).length;
  const failures = count((one) => deciding(one, failOn).length > 0);
  const errors = count((one) => isUnknown(one) && deciding(one, failOn).length === 0);
  const skipped = count(({ state }) => state === 'skipped' || state === 'ignored');
  return ` tests="${checks.length}" failures="${failures}" errors="${errors}" skipped="${skipped}"`;
}

function testCase(check: CheckReport, failOn: FailOn): string {
  const { id, area, title } = check;
  const head = `    <testcase classname="${attribute(area)}" name="${attribute(`${id} ${title}`)}"`;
  const body = bodyOf(check, failOn);
  return body === '' ? `${head}/>` : `${head}>\n      ${body}\n    </testcase>`;
}

function bodyOf(check: CheckReport, failOn: FailOn): string {
  const reason = reasonOf(check);
  if (check.state === 'skipped') return `<skipped message="${attribute(reason)}"/>`;
  if (check.state === 'ignored') return '<skipped message="ignored"/>';
  const text = content(linesOf(check).join('\n'));
  const [first] = deciding(check, failOn);
  if (first !== undefined)
    return `<failure type="${first.level}" message="${attribute(`${first.subject}: ${first.message}`)}">${text}</failure>`;
  if (isUnknown(check)) return `<error type="not-evaluated" message="${attribute(reason)}">${text}</error>`;
  return text === '' ? '' : `<system-out>${text}</system-out>`;
}

function linesOf(check: CheckReport): readonly string[] {
  const { findings, trusted, fix } = check;
  return [
    ...findings.map(({ level, subject, message }) => `${level} ${subject}: ${message}`),
    ...(isUnknown(check) ? [`unknown: ${reasonOf(check)}`] : []),
    ...(check.examined ?? []).map(({ subject, found }) => `${subject}: ${found}`),
    ...(trusted === undefined ? [] : [`Not all of it was seen: ${trusted}`]),
    ...(fix === undefined ? [] : [`Fix: ${fix}`]),
  ];
}

function deciding(check: CheckReport, failOn: FailOn): readonly ReportedFinding[] {
  if (failOn === 'none') return [];
  return counting(check).filter(({ level }) => level === 'error' || level === failOn);
}

const attribute = (text: string) => escapeXml(printable(text));
const content = (text: string) => text.split('\n').map(attribute).join('\n');

export function sarifReport(report: ValidateReport, version: string): string {
  const tool = { name: 'svc validate', version, rules: rules() };
  const notifications = report.checks.filter(isUnknown).map(notification);
  return JSON.stringify(sarifLog(tool, report.checks.flatMap(findingsOf), notifications), null, 2);
}

function rules(): readonly SarifRule[] {
  return checks.map(({ id, title, fix }) => {
    const helpUri = pageUri(id);
    return { id, summary: `${title}.`, help: fix, ...(helpUri !== undefined && { helpUri }) };
  });
}

function findingsOf({ id, findings }: CheckReport): readonly SarifFinding[] {
  return findings.map(({ level, subject, message, ignored }) => ({
    id,
    level,
    subject,
    message,
    ...(ignored && { suppressed: '--ignore' }),
  }));
}

function notification(check: CheckReport): SarifNotification {
  return { id: check.id, message: reasonOf(check) };
}
