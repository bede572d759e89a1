import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parse } from 'yaml';
import { declaredMetrics, metricsIn } from './metric-names.ts';

const test = suite('dashboard and alerts');

const read = (name: string) =>
  readFileSync(new URL(`../../../manifests/chart/files/${name}`, import.meta.url), 'utf8');
const dashboard = JSON.parse(read('dashboard.json'));
const alerts = parse(read('alerts.yaml'));

/** Of kube-state-metrics: https://github.com/kubernetes/kube-state-metrics/tree/main/docs/metrics/workload */
const KUBE_STATE = new Set([
  'kube_deployment_status_replicas_available',
  'kube_daemonset_status_number_ready',
  'kube_daemonset_status_desired_number_scheduled',
]);

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly targets: readonly { readonly expr: string }[];
}

const panels: readonly Panel[] = dashboard.panels;
const queries = [
  ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ...alerts.groups.flatMap(({ rules }: { rules: { expr: string }[] }) => rules.map(({ expr }) => expr)),
];

test('names of metrics are found in queries', () => {
  const query = 'sum by (a_b) (rate(svc_x_total{c_d="e_f"}[5m])) / on (g_h) count(i_j == 0) or vector(0)';
  assert.equal(metricsIn(query), ['svc_x_total', 'i_j']);
});

test('every metric in a query is one that svc exports, or kube-state-metrics', () => {
  const declared = declaredMetrics();
  assert.ok(declared.has('svc_agent_tier'));
  for (const query of queries) {
    const names = metricsIn(query);
    assert.ok(names.length > 0, query);
    for (const name of names) assert.ok(declared.has(name) || KUBE_STATE.has(name), `${name} in ${query}`);
  }
});

test('each panel has a number and a title of its own, and a query', () => {
  assert.equal(
    panels.map(({ id }) => id),
    [...new Set(panels.map(({ id }) => id))],
  );
  assert.equal(
    panels.map(({ title }) => title),
    [...new Set(panels.map(({ title }) => title))],
  );
  for (const { targets, title } of panels) assert.ok(targets.length > 0, title);
});

test.run();
