import { type Paint, painter, type Style } from '../../../runtime/cli/terminal.ts';
import type { CheckFinding, Level } from '../../../runtime/report/check-outcome.ts';
import { coloured, tableText } from '../../../runtime/report/report-table.ts';
import {
  outcomeText,
  printable,
  sectionsText,
  titled,
  reportWidth as width,
  wrapped,
} from '../../../runtime/report/report-text.ts';
import { type SarifRule, sarifLog } from '../../../runtime/report/sarif.ts';
import { counted } from '../../../runtime/units.ts';
import type { AuditCall, AuditTerms } from '../terms.ts';
import {
  type AuditedWorkload,
  findingRules,
  helpFor,
  lacking,
  nothingMissing,
  titleOf,
  worstFirst,
} from './findings.ts';
import { htmlReport } from './html-report.ts';
import { type ClusterReport, type Grade, gradeOf, nodeLines } from './report.ts';

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
  if (terms.format === 'html') return htmlReport(report, version);
  const tool = { name: 'svc audit', version, rules: sarifRules };
  return JSON.stringify(sarifLog(tool, sarifFindings(report, terms.minScore)), null, 2);
}

const scoreRule: SarifRule = {
  id: 'protection-score',
  summary: 'A workload is protected less than it could be.',
  help: 'Do what the message names; the weights are explained in the documentation of the protection score.',
};

const sarifRules: readonly SarifRule[] = [...findingRules, scoreRule];

/** A score is an error if it is too low, otherwise informational. */
function sarifFindings({ workloads }: ClusterReport, minScore = 0): readonly CheckFinding[] {
  return workloads.flatMap((workload) => {
    const subject = titleOf(workload);
    const own = workload.findings.map(({ id, level, message }) => ({ id, level, subject, message }));
    if (workload.score === 100) return own;
    const level = workload.score < minScore ? 'error' : 'info';
    return [...own, { id: scoreRule.id, level, subject, message: scoreMessage(workload) }];
  });
}

function scoreMessage(workload: AuditedWorkload): string {
  const steps = lacking(workload).map(
    ({ name, points, of, remedy }) =>
      `${name} ${points} of ${of}${remedy === undefined ? '' : `: ${remedy}`}`,
  );
  return [`Its score is ${workload.score} of 100.`, ...steps].join(' ');
}

const columns = [
  { title: 'NAMESPACE', width: 16 },
  { title: 'WORKLOAD', width: 34 },
  { title: 'SCORE', width: 5, align: 'right' },
  { title: 'PODS', width: 4, align: 'right' },
  { title: 'MISSING', width: 31 },
] as const;

/** One row per workload, missing protections with remedies, nodes, and findings; at most 100 columns. */
function clusterText(report: ClusterReport, paint: Paint): string {
  const { workloads } = report;
  return sectionsText([
    workloads.length === 0 ? ['No workload to show.'] : [tableText(columns, workloads.map(row(paint)))],
    titled('How to get what is missing:', missingLines(workloads), paint),
    titled('Nodes, by what their agent enforces:', nodeLines(report.nodes, paint), paint),
    titled('Findings:', findingLines(workloads, paint), paint),
    titled(
      'Scored without a report of the operator, so without what the agents know:',
      sourceLines(workloads),
      paint,
    ),
    [summaryText(report), outcomeText(report.outcome, paint)],
  ]);
}

const row = (paint: Paint) => (workload: AuditedWorkload) => {
  const { namespace, kind, name, score, pods } = workload;
  const missing = lacking(workload).map(({ name, points, of }) => `${name} ${of - points}`);
  return [
    namespace,
    `${kind}/${name}`,
    coloured(paint, colours[gradeOf(score)], String(score)),
    String(pods),
    nothingMissing(workload) ?? missing.join(', '),
  ];
};

const colours: Readonly<Record<Grade, Style>> = { bad: 'red', fair: 'yellow', good: 'green' };

function summaryText({ summary, workloads }: ClusterReport): string {
  const { asking, protected: covered, lowestScore, shown, fromReports } = summary;
  const lowest = lowestScore === undefined ? '' : `, the lowest score is ${lowestScore}`;
  const some = workloads.length < summary.workloads ? ` (${shown} shown)` : '';
  const [worst] = [...workloads].sort((a, b) => a.score - b.score);
  const whose = worst !== undefined && worst.score === lowestScore ? ` of ${titleOf(worst)}` : '';
  const asks = `${asking} ${asking === 1 ? 'asks' : 'ask'}`;
  const has = `${covered} ${covered === 1 ? 'has' : 'have'}`;
  const text = `${counted(summary.workloads, 'workload')}${some}: ${asks} for protection, ${has} it${lowest}${whose}. ${fromReports} scored by the operator.`;
  return wrapped(text, width, '  ');
}

const maxFindings = 40;
const styles: Readonly<Record<Level, Style>> = { error: 'red', warning: 'yellow', info: 'dim' };

/** The worst findings first, then the fix of each kind; beyond 40 they are only counted. */
function findingLines(workloads: readonly AuditedWorkload[], paint: Paint): readonly string[] {
  const all = worstFirst(workloads);
  const shown = all.slice(0, maxFindings).map(({ level, id, subject, message }) => {
    const text = wrapped(printable(`${id}  ${subject}: ${message}`), width - level.length - 3, '    ');
    return `- ${paint(styles[level], level)} ${text}`;
  });
  const rest =
    all.length > maxFindings ? [`- and ${all.length - maxFindings} more; -o json has them all`] : [];
  const ids = [...new Set(all.map(({ id }) => id))];
  const helps = ids.flatMap((id) => {
    const help = helpFor(id);
    return help === undefined ? [] : [`  ${wrapped(`${id}: ${help}`, width - 2, '    ')}`];
  });
  return [...shown, ...rest, ...helps];
}

/** A line for each factor and remedy, the most valuable first; only for workloads that ask for protection. */
function missingLines(workloads: readonly AuditedWorkload[]): readonly string[] {
  const groups = new Map<string, { text: string; points: number; workloads: number }>();
  for (const workload of workloads)
    for (const { name, points, of, remedy } of workload.asks ? lacking(workload) : []) {
      if (remedy === undefined) continue;
      const key = `${name}: ${remedy}`;
      const group = groups.get(key) ?? { text: key, points: 0, workloads: 0 };
      groups.set(key, { text: key, points: group.points + of - points, workloads: group.workloads + 1 });
    }
  return [...groups.values()]
    .sort((a, b) => b.points - a.points)
    .map(({ text, workloads }) => wrapped(printable(`- ${text}${inWorkloads(workloads)}`), width, '  '));
}

/** Why the operator's reports were not used, by reason; only for workloads that ask for protection. */
function sourceLines(workloads: readonly AuditedWorkload[]): readonly string[] {
  const own = workloads.filter(({ asks, source }) => asks && source === 'objects');
  return [...Map.groupBy(own, ({ because = '' }) => because)].map(([because, those]) => {
    const [first] = those;
    const whose = those.length === 1 && first !== undefined ? titleOf(first) : `${those.length} workloads`;
    return wrapped(printable(`- ${whose}: ${because}`), width, '  ');
  });
}

const inWorkloads = (count: number) => (count === 1 ? ' (1 workload)' : ` (${count} workloads)`);
