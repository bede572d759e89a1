import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Metrics } from '../../../src/runtime/health/health.ts';
import { createLeanMetrics } from '../../../src/runtime/health/plain-metrics.ts';
import { promMetrics } from './prom-metrics.ts';

const lean = suite('lean metrics');

function fill(metrics: Metrics): Metrics {
  const runs = metrics.counter('demo_runs_total', 'Runs', ['result', 'kind']);
  runs.inc({ result: 'ok', kind: 'a"b\\c\nd' });
  runs.inc({ result: 'ok', kind: 'x' }, 4);
  metrics.counter('demo_plain_total', 'Without labels');
  const open = metrics.gauge('demo_open', 'Open');
  open.set(5);
  open.add(-2.5);
  const rooms = metrics.gauge('demo_rooms', 'Rooms', ['house']);
  rooms.set(3, { house: 'a' });
  rooms.set(4, { house: 'b' });
  rooms.remove({ house: 'a' });
  rooms.remove({ house: 'c' });
  return metrics;
}

lean('writes what prom-client writes', async () => {
  assert.equal(await fill(createLeanMetrics()).expose(), await fill(await promMetrics()).expose());
});

lean('refuses a name twice, and histograms', () => {
  const metrics = createLeanMetrics();
  metrics.gauge('demo', 'One');
  assert.throws(() => metrics.counter('demo', 'Two'), RangeError);
  assert.throws(() => metrics.histogram('demo_seconds', 'Time', [1]), RangeError);
});

lean.run();
