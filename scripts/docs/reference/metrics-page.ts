import { createMetrics } from '../../../src/runtime/health/create-metrics.ts';
import { markdownTable } from '../../../test/plugins/agent/bypass/markdown-table.ts';
import { alertTable } from '../operator/alerts.ts';
import { cell, code, codes } from '../operator/cell.ts';
import type { DeclaredMetric } from '../operator/metric-recorder.ts';
import { componentMetrics } from './component-metrics.ts';

/** Every metric of every component. */
export async function metricsPage(): Promise<string[]> {
  return [
    '# Metrics',
    '',
    'In the text format of Prometheus, at `/metrics` of each component; [where](endpoints.md). A histogram is exposed as',
    '`_bucket`, `_sum` and `_count`. Units are in the names; a gauge described by 1 is 0 otherwise.',
    ...Object.entries(componentMetrics).flatMap(([component, declared]) => [
      '',
      `## ${component.charAt(0).toUpperCase()}${component.slice(1)}`,
      '',
      ...metricTable(declared()),
    ]),
    ...['', '## All components', ''],
    ...markdownTable(['metric', 'type', 'meaning'], await commonMetrics()),
    '',
    'Of these, the wrapper, which has to stay small, has only `svc_build_info`.',
    ...['', '## Alerts', ''],
    'The rules that the chart ships. The first look for each: [OPERATOR.md](../OPERATOR.md#alerts).',
    '',
    ...alertTable(),
  ];
}

function metricTable(metrics: readonly DeclaredMetric[]): string[] {
  const rows = metrics.map(({ name, type, labels, help }) => [code(name), type, codes(labels), cell(help)]);
  return markdownTable(['metric', 'type', 'labels', 'meaning'], rows);
}

/** What a component has that declares nothing: Node's own figures and `svc_build_info`. */
async function commonMetrics(): Promise<string[][]> {
  const { body } = await (await createMetrics({ version: '0', component: 'none' })).expose();
  const families = [...body.matchAll(/^# HELP (?<name>\S+) (?<help>.*)\n# TYPE \S+ (?<type>\w+)$/gm)];
  return families
    .map(({ groups: { name = '', type = '', help = '' } = {} }) => [code(name), type, cell(help)])
    .sort(([a = ''], [b = '']) => (a < b ? -1 : 1));
}
