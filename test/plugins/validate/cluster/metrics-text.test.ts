import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { samplesOf, sumOf } from '../../../../src/plugins/validate/cluster/operator.ts';
import { createMetrics } from '../../../../src/runtime/health/create-metrics.ts';

const test = suite('samples of a page of metrics');

test('reads what the components write', async () => {
  const metrics = await createMetrics({ version: '1', component: 'test' });
  const counter = metrics.counter('svc_test_total', 'Of this test', ['what', 'status']);
  counter.inc({ what: 'a "quoted" {name}', status: '200' }, 3);
  counter.inc({ what: 'b', status: '500' }, 4);
  const page = (await metrics.expose()).body;
  assert.is(sumOf(page, 'svc_test_total'), 7);
  assert.is(sumOf(page, 'svc_test_total', { status: '500' }), 4);
  assert.is(sumOf(page, 'svc_test_total', { status: '404' }), 0);
  assert.is(sumOf(page, 'svc_other_total'), undefined);
  assert.is(samplesOf(page, 'svc_test_total')[0]?.labels['status'], '200');
});

test('takes a metric without labels, and passes over what is none', () => {
  const page = '# HELP a_total of a\n# TYPE a_total counter\na_total 1.5e+3\nnot a metric at all\n\n';
  assert.equal(samplesOf(page, 'a_total'), [{ labels: {}, value: 1500 }]);
});

test.run();
