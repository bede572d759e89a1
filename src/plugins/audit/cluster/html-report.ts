import { escapeXml } from '../../../objects/s3/xml-text.ts';
import { type AuditedWorkload, helpFor, lacking, nothingMissing, worstFirst } from './findings.ts';
import { type ClusterReport, gradeOf, minScores, whyNot } from './report.ts';

/**
 * The report as one HTML page: no scripts, no external resources, light and dark. Every text from the cluster is
 * escaped, and the page's content security policy limits the effect of a missed escape.
 */
export function htmlReport(report: ClusterReport, version: string): string {
  const { server, summary, outcome } = report;
  const facts: readonly (readonly [string, number | string])[] = [
    ['Workloads', summary.workloads],
    ['Ask for protection', summary.asking],
    ['Protected', summary.protected],
    ['Lowest score', summary.lowestScore ?? '–'],
    ['Scored by the operator', summary.fromReports],
  ];
  return page(
    `Protection of ${server}`,
    [
      `<h1>Protection scores</h1><p>${html(server)} · svc ${html(version)} · <strong class="${outcome.exitStatus === 0 ? 'good' : 'bad'}">${html(outcome.result)}</strong>, exit status ${outcome.exitStatus}</p>`,
      `<dl>${facts.map(([name, value]) => `<div><dt>${name}</dt><dd>${html(value)}</dd></div>`).join('')}</dl>`,
      outcome.reasons.map((reason) => `<p class="bad">${html(reason)}</p>`).join(''),
      section(
        'Workloads',
        ['Namespace', 'Workload', 'Score', 'Pods', 'Missing, and how to get it'],
        workloadRows(report),
      ),
      section('Findings', ['Level', 'Finding', 'Workload', 'What, and how to fix it'], findingRows(report)),
      section('Nodes', ['Node', 'Tier', 'Enforces', 'Why not more'], nodeRows(report)),
    ].join('\n'),
  );
}

type Rows = readonly (readonly string[])[];

function workloadRows({ workloads }: ClusterReport): Rows {
  return workloads.map((workload) => [
    html(workload.namespace),
    html(`${workload.kind}/${workload.name}`),
    scoreBar(workload.score),
    html(workload.pods),
    missing(workload),
  ]);
}

function scoreBar(score: number): string {
  const { fair, good } = minScores;
  return `<meter class="${gradeOf(score)}" min="0" max="100" low="${fair}" high="${good}" optimum="100" value="${score}"></meter> ${score}`;
}

function missing(workload: AuditedWorkload): string {
  const items = lacking(workload).map(
    ({ name, points, of, because, remedy = because }) =>
      `<li>${html(name)} ${points} of ${of}: ${html(remedy)}</li>`,
  );
  return nothingMissing(workload) ?? `<ul>${items.join('')}</ul>`;
}

function findingRows({ workloads }: ClusterReport): Rows {
  return worstFirst(workloads).map(({ level, id, subject, message }) => [
    `<span class="${level === 'error' ? 'bad' : 'fair'}">${level}</span>`,
    html(id),
    html(subject),
    `${html(message)} ${html(helpFor(id) ?? '')}`,
  ]);
}

function nodeRows({ nodes }: ClusterReport): Rows {
  return nodes.map((node) => [
    html(node.name),
    html(node.tierName),
    node.enforcing ? '<span class="good">yes</span>' : '<span class="bad">no</span>',
    html(whyNot(node)),
  ]);
}

function section(title: string, columns: readonly string[], rows: Rows): string {
  if (rows.length === 0) return `<h2>${title}</h2><p>None.</p>`;
  const head = columns.map((column) => `<th scope="col">${column}</th>`).join('');
  const body = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`);
  return `<h2>${title} (${rows.length})</h2><table><thead><tr>${head}</tr></thead><tbody>${body.join('\n')}</tbody></table>`;
}

/** Escapes text for an element or a quoted attribute. */
function html(text: string | number): string {
  return escapeXml(String(text));
}

const style = `
:root { color-scheme: light dark; --bad: #cf222e; --fair: #9a6700; --good: #1a7f37; --line: #d0d7de; }
@media (prefers-color-scheme: dark) { :root { --bad: #ff7b72; --fair: #d29922; --good: #3fb950; --line: #3d444d; } }
body { font: 15px/1.45 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
dl { display: flex; flex-wrap: wrap; gap: 1rem 2.5rem; } dt { font-size: .85em; } dd { margin: 0; font-size: 1.6em; }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; vertical-align: top; padding: .4rem .7rem; }
td { border-top: 1px solid var(--line); overflow-wrap: break-word; } ul { margin: 0; padding-left: 1.1rem; } meter { width: 6rem; }
.bad { color: var(--bad); } .fair { color: var(--fair); } .good { color: var(--good); }`;

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>${html(title)}</title>
<style>${style}
</style>
</head>
<body>
${body}
</body>
</html>`;
}
