import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ClusterReport } from '../../../../src/plugins/audit/cluster/report.ts';
import { createWatchView } from '../../../../src/plugins/audit/cluster/watch-cluster.ts';
import { type AuditCall, readTerms } from '../../../../src/plugins/audit/terms.ts';

const test = suite('what a watch shows');

const report = (...names: readonly string[]) =>
  ({
    ...{ version: 1, kind: 'cluster', server: 'https://kube.example' },
    summary: { workloads: names.length, asking: 0, protected: 0, fromReports: 0, shown: names.length },
    workloads: names.map((name) => ({
      ...{ namespace: 'shop', kind: 'Pod', name, score: 0, pods: 1, protected: false, asks: false },
      ...{ source: 'objects', addends: [], findings: [] },
    })),
    nodes: [],
    outcome: { result: 'passed', exitStatus: 0, reasons: [] },
  }) as unknown as ClusterReport;

function view(env: AuditCall['env'], isTTY: boolean, failure?: Error) {
  const flags = {
    ...{ output: 'table', json: false, 'fail-on': 'none', scope: 'all', watch: true },
    'operator-namespace': 'svc-system',
  } as AuditCall['flags'];
  const [out, err]: [string[], string[]] = [[], []];
  let gone = 0;
  const stdout: AuditCall['stdout'] = {
    isTTY,
    write(text, written) {
      out.push(text);
      written?.(failure);
    },
  };
  const call: AuditCall = { flags, env, version: '0', stdout, stderr: { write: (text) => err.push(text) } };
  const show = createWatchView(call, readTerms(flags), () => {
    gone += 1;
  });
  return { show, out, err, gone: () => gone };
}

test('a terminal gets the table, with why it is not newer below', () => {
  const { show, out, err } = view({ TERM: 'xterm' }, true);
  show(report('web'));
  show(report('web'), 'No newer state is known: no answer.');
  assert.is(out.length, 2);
  assert.match(out[1] ?? '', /Pod\/web[\s\S]*Passed\.[\s\S]*\nNo newer state is known: no answer\./);
  assert.equal(err, []);
});

test('elsewhere, and on a terminal that can only write on, every change is a line', () => {
  for (const { show, out, err } of [view({ TERM: 'xterm' }, false), view({ TERM: 'dumb' }, true)]) {
    show(report('web'));
    show(report('web'), 'no answer');
    show(report('web'), 'no answer');
    show(report('other'));
    show(report('other'), 'no answer');
    const lines = out.map((line) => JSON.parse(line));
    assert.equal(
      lines.map(({ change, workload }) => `${change} ${workload.name}`),
      ['added web', 'added other', 'removed web'],
    );
    assert.equal(err, ['no answer\n', 'no answer\n']);
  }
});

test('a line that cannot be written tells that nobody reads any more', () => {
  const { show, gone } = view({}, false, new Error('EPIPE'));
  show(report());
  assert.is(gone(), 0);
  show(report('web'));
  assert.is(gone(), 1);
});

test.run();
