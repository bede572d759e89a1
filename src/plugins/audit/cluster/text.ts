import { counted } from '../../../core/counted.ts';
import { outcomeText } from '../../../runtime/cli/report/outcome-text.ts';
import { sectionsText, titled } from '../../../runtime/cli/report/sections.ts';
import { tableText } from '../../../runtime/cli/report/table.ts';
import { wrapped } from '../../../runtime/cli/report/wrap.ts';
import type { Paint, Style } from '../../../runtime/cli/terminal.ts';
import { type AuditedWorkload, titleOf } from './audited.ts';
import { findingLines } from './finding-lines.ts';
import { nodeLines } from './nodes.ts';
import type { ClusterReport } from './report.ts';
import { missingLines, sourceLines } from './section-lines.ts';

const columns = [
  { title: 'NAMESPACE', width: 16 },
  { title: 'WORKLOAD', width: 34 },
  { title: 'SCORE', width: 5, align: 'right' },
  { title: 'PODS', width: 4, align: 'right' },
  { title: 'MISSING', width: 31 },
] as const;

/** A row a workload, what is missing and how to get it, nodes, and findings; at most 100 columns. */
export function clusterText(report: ClusterReport, paint: Paint): string {
  const { workloads } = report;
  return sectionsText([
    workloads.length === 0
      ? ['No workload to show.']
      : [
          tableText(
            columns,
            workloads.map((one) => row(one, paint)),
          ),
        ],
    titled('How to get what is missing:', missingLines(workloads), paint),
    titled('Nodes, by what their agent enforces:', nodeLines(report.nodes, paint), paint),
    titled('Findings:', findingLines(workloads, paint), paint),
    titled(
      'Not scored from a report of the operator, so that what the agents know is not in it:',
      sourceLines(workloads),
      paint,
    ),
    [summaryText(report), outcomeText(report.outcome, paint)],
  ]);
}

function row(workload: AuditedWorkload, paint: Paint) {
  const { namespace, kind, name, score, pods } = workload;
  return [
    namespace,
    `${kind}/${name}`,
    { text: String(score), paint: (text: string) => paint(colourOf(score), text) },
    String(pods),
    missing(workload),
  ];
}

function missing({ asks, addends, score }: AuditedWorkload): string {
  if (!asks) return 'does not ask for protection';
  if (score === 100) return 'nothing';
  return addends
    .flatMap(({ name, points, of }) => (points < of ? [`${name} ${of - points}`] : []))
    .join(', ');
}

/** 50 is where the recommended alert begins. */
function colourOf(score: number): Style {
  if (score < 50) return 'red';
  return score < 75 ? 'yellow' : 'green';
}

function summaryText({ summary, workloads }: ClusterReport): string {
  const { asking, protected: covered, lowestScore, shown, fromReports } = summary;
  const lowest = lowestScore === undefined ? '' : `, the lowest score is ${lowestScore}`;
  const some = workloads.length < summary.workloads ? ` (${shown} shown)` : '';
  const [worst] = [...workloads].sort((a, b) => a.score - b.score);
  const whose = worst !== undefined && worst.score === lowestScore ? ` of ${titleOf(worst)}` : '';
  const asks = `${asking} ${asking === 1 ? 'asks' : 'ask'}`;
  const has = `${covered} ${covered === 1 ? 'has' : 'have'}`;
  const text = `${counted(summary.workloads, 'workload')}${some}: ${asks} for protection, ${has} it${lowest}${whose}. ${fromReports} scored by the operator.`;
  return wrapped(text, 98, '  ');
}
