import { type SarifFinding, type SarifNotification, type SarifRule, sarifLog } from '../../../core/sarif.ts';
import { checks } from '../registry.ts';
import { type CheckReport, isUnknown, pageUri, reasonOf, type ValidateReport } from '../report.ts';

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
    ...{ id, level, subject, message },
    ...(ignored && { suppressed: '--ignore' }),
  }));
}

function notification(check: CheckReport): SarifNotification {
  return { id: check.id, message: reasonOf(check) };
}
