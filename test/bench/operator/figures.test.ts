import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { quantile } from '../../../bench/harness/quantile.ts';
import { bucketsIn, histogramQuantile, since } from '../../../bench/operator/histogram.ts';

const test = suite('figures of the operator');

const exposition = (counts: readonly number[]) =>
  ['0.001', '0.005', '+Inf']
    .map((bound, index) => `took_seconds_bucket{le="${bound}"} ${counts[index]}`)
    .join('\n');

test('a quantile is the least value that so many do not exceed', () => {
  const values = Array.from({ length: 200 }, (_, index) => 200 - index);
  assert.is(quantile(values, 0.5), 100);
  assert.is(quantile(values, 0.99), 198);
  assert.is(quantile([7], 0.99), 7);
  assert.throws(() => quantile([], 0.5), /quantile of nothing/);
});

test('a histogram is read for what came between two looks', () => {
  const before = bucketsIn(exposition([10, 10, 10]), 'took_seconds');
  const after = bucketsIn(exposition([20, 110, 110]), 'took_seconds');
  assert.equal([...since(before, after).values()], [10, 100, 100]);
});

test('observations count as evenly spread within their bucket', () => {
  const buckets = bucketsIn(exposition([10, 110, 110]), 'took_seconds');
  assert.ok(Math.abs(histogramQuantile(buckets, 0.5) - 0.0028) < 1e-9);
  assert.is(histogramQuantile(bucketsIn(exposition([0, 0, 5]), 'took_seconds'), 0.5), 0.005);
  assert.ok(Number.isNaN(histogramQuantile(bucketsIn(exposition([0, 0, 0]), 'took_seconds'), 0.5)));
});

test.run();
