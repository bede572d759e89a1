import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createMetrics } from '../../../src/runtime/health/create-metrics.ts';
import type { Metrics } from '../../../src/runtime/health/health.ts';
import { promMetrics } from './prom-metrics.ts';

const figures = suite('metrics');
const build = { version: '1.2.3', component: 'demo' };

figures('shows counters, gauges and histograms as Prometheus reads them', async () => {
  const metrics = await createMetrics(build);
  const requests = metrics.counter('demo_requests_total', 'Requests', ['op']);
  requests.inc({ op: 'Put' });
  requests.inc({ op: 'Put' }, 2);
  metrics.counter('demo_plain_total', 'Without labels').inc();
  const gauge = metrics.gauge('demo_open', 'Open');
  gauge.set(5);
  gauge.add(-2);
  const rooms = metrics.gauge('demo_rooms', 'Rooms', ['house']);
  for (const house of ['a', 'b']) rooms.set(3, { house });
  rooms.remove({ house: 'a' });
  metrics.histogram('demo_seconds', 'Time', [0.1, 1], ['op']).observe(0.5, { op: 'Get' });
  const { contentType, body } = await metrics.expose();
  assert.match(contentType, /^text\/plain; version=0\.0\.4/);
  const expected = [
    'demo_requests_total{op="Put"} 3',
    'demo_plain_total 1',
    'demo_open 3',
    'demo_rooms{house="b"} 3',
    'demo_seconds_bucket{le="0.1",op="Get"} 0',
    'demo_seconds_bucket{le="1",op="Get"} 1',
    'demo_seconds_sum{op="Get"} 0.5',
    `svc_build_info{version="1.2.3",component="demo",node="${process.version}"} 1`,
  ];
  for (const line of expected) assert.ok(body.split('\n').includes(line), line);
  assert.not.match(body, /house="a"/);
});

/** Every kind of metric, with and without labels, with texts to escape, and numbers that are none. */
function fill(metrics: Metrics): Metrics {
  const runs = metrics.counter('demo_runs_total', 'Runs', ['result', 'kind']);
  runs.inc({ result: 'ok', kind: 'a"b\\c\nd' });
  runs.inc({ result: 'ok' }, 4);
  metrics.counter('demo_untouched_total', 'Never counted');
  const open = metrics.gauge('demo_open', 'Open', ['house']);
  for (const [value, house] of [
    [Infinity, 'a'],
    [-Infinity, 'b'],
    [Number.NaN, '__proto__'],
  ] as const)
    open.set(value, { house });
  open.set(1, { house: 'gone' });
  open.remove({ house: 'gone' });
  const time = metrics.histogram('demo_seconds', 'Time', [0.005, 0.1, 1, 10], ['op']);
  for (const value of [0.001, 0.005, 0.3, 0.7, 10, 11]) time.observe(value, { op: 'Put' });
  time.observe(-1, { op: 'a"b' });
  metrics.histogram('demo_bytes', 'Bytes', [1, 2]).observe(2);
  metrics.histogram('demo_untouched_seconds', 'Never observed', [1]);
  return metrics;
}

figures('is the page of prom-client, whose own numbers are beside it', async () => {
  const { body } = await fill(await createMetrics(build)).expose();
  const { body: expected } = await fill(await promMetrics()).expose();
  assert.ok(body.endsWith(`\n\n${expected}`), body.slice(body.indexOf('# HELP demo_')));
});

figures('shows the figures of the process', async () => {
  const { body } = await (await createMetrics(build)).expose();
  for (const name of [
    'process_resident_memory_bytes',
    'process_cpu_seconds_total',
    'nodejs_eventloop_lag_seconds',
  ]) {
    assert.match(body, new RegExp(`^${name} [\\d.e+-]+$`, 'm'));
  }
});

figures('two components in one process do not meet', async () => {
  const [one, two] = [await createMetrics(build), await createMetrics(build)];
  one.counter('demo_total', 'One').inc();
  two.counter('demo_total', 'Two').inc({}, 5);
  assert.match((await two.expose()).body, /^demo_total 5$/m);
});

figures.run();
