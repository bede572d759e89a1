import { sarifLog } from '../../../core/checks/sarif.ts';
import { painter } from '../../../runtime/cli/terminal.ts';
import type { AuditCall } from '../contract.ts';
import type { AuditTerms } from '../terms.ts';
import type { ClusterReport } from './report.ts';
import { sarifFindings, sarifRules } from './sarif.ts';
import { clusterText } from './text.ts';

export function writeReport(report: ClusterReport, call: AuditCall, terms: AuditTerms): void {
  call.stdout.write(`${reportText(report, call, terms)}\n`);
}

export function reportText(
  report: ClusterReport,
  { stdout, env, version }: AuditCall,
  terms: AuditTerms,
): string {
  if (terms.format === 'table') return clusterText(report, painter(stdout, env));
  if (terms.format === 'json') return JSON.stringify(report, null, 2);
  const tool = { name: 'svc audit', version, rules: sarifRules };
  return JSON.stringify(sarifLog(tool, sarifFindings(report, terms.minScore)), null, 2);
}
