import type { FailOn } from '../../../core/check-outcome.ts';
import { escapeXml } from '../../../core/s3/xml-text.ts';
import { printable } from '../../../runtime/cli/report-text.ts';
import {
  type CheckReport,
  counting,
  isUnknown,
  type ReportedFinding,
  reasonOf,
  type ValidateReport,
} from '../report.ts';

/** A test suite an area, a test case a check. What does not decide under `failOn` is its output. */
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
