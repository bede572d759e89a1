import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { scoreOf } from '../../../../src/cluster/score/score-of.ts';
import { htmlReport } from '../../../../src/plugins/audit/cluster/html-report.ts';
import type { ClusterReport } from '../../../../src/plugins/audit/cluster/report.ts';
import { bestProtection, factsOf, plainPod } from '../../../cluster/score/facts.ts';
import { runCommand } from '../../../support/run-command.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { requireTool } from '../../../testbed/ensure.ts';

const { bins } = await requireTool('chromium');
const test = suite('the report of an audit in a browser');

/** What somebody who may name things in a cluster would like to run in the browser of its administrator. */
const hostile = `<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>&"'`;
const workload = { asks: true, protected: true, source: 'report' } as const;
const full = { ...scoreOf(factsOf([bestProtection()])), ...workload, namespace: 'shop' };
const bare = {
  ...scoreOf(factsOf([{ pod: plainPod(), agent: undefined, reports: [] }])),
  ...workload,
  namespace: hostile,
};

const report = {
  ...{ version: 1, kind: 'cluster', server: 'https://cluster.example' },
  summary: {
    ...{ workloads: 2, asking: 2, protected: 1, lowestScore: bare.score, fromReports: 2, shown: 2 },
    findings: { error: 1, warning: 0, info: 0 },
  },
  workloads: [
    { ...full, findings: [] },
    { ...bare, findings: [{ id: 'unprotected-pods', level: 'error', message: hostile }] },
  ],
  nodes: [
    { name: 'node-1', tier: 1, tierName: 'lsm', enforcing: true },
    { name: 'node-2', tier: 4, tierName: 'none', enforcing: false, reason: hostile },
  ],
  outcome: { result: 'failed', exitStatus: 1, reasons: ['1 workload has less than --min-score 50.'] },
} as unknown as ClusterReport;

/** The page as Chromium has it after everything that it would run has run, without its markup where `text`. */
async function opened(html: string): Promise<string> {
  const folder = temporaryFolder('audit-html');
  const file = join(folder.path, 'report.html');
  writeFileSync(file, html);
  try {
    const profile = `--user-data-dir=${join(folder.path, 'profile')}`;
    const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', profile];
    const { status, stdout, stderr } = await runCommand(
      bins['chromium'] ?? '',
      [...flags, '--virtual-time-budget=2000', '--dump-dom', `file://${file}`],
      folder.path,
    );
    assert.is(status, 0, stderr);
    return stdout;
  } finally {
    await folder.remove();
  }
}

const rowsOf = (dom: string) => [...dom.matchAll(/<tr><td>.*?<\/tr>/gs)].map(([row]) => row);
const textOf = (markup: string) => markup.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');

test('has the figures of the report', async () => {
  const dom = await opened(htmlReport(report, '1.2.3'));
  const text = textOf(dom);
  for (const figure of [
    'svc 1.2.3',
    'failed',
    'exit status 1',
    'Workloads 2',
    'Protected 1',
    `Lowest score ${bare.score}`,
  ])
    assert.ok(text.includes(figure), `${figure} in ${text}`);
  const rows = rowsOf(dom).map(textOf);
  assert.is(rows.length, 5);
  assert.match(rows[0] ?? '', new RegExp(`^ shop .*${full.score}`));
  assert.ok(
    bare.addends.filter(({ points, of }) => points < of).every(({ name }) => rows[1]?.includes(name)),
  );
  assert.match(rows[4] ?? '', /node-2 none no/);
});

test('shows names from the cluster as text, whatever they are', async () => {
  const dom = await opened(htmlReport(report, '1.2.3'));
  assert.match(dom, '<title>Protection of https://cluster.example</title>');
  assert.not.match(dom, /<img|<script/);
  assert.ok(dom.includes('&lt;img src=x'));
});

test('loads and runs nothing, even where a name got through', async () => {
  const dom = await opened(htmlReport(report, '1.2.3').replace('<h1>', `${hostile}<h1>`));
  assert.match(dom, '<title>Protection of https://cluster.example</title>');
});

test.run();
