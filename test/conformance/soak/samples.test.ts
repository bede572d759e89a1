import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { around, sampleUntil } from './samples.ts';

const test = suite('samples of a soak');

const rising = Array.from({ length: 100 }, (_, index) => ({
  rss: index,
  files: 2 * index,
  spooled: 100 - index,
}));

test('stand for the tenth of the run that ends there', () => {
  assert.equal(around(rising, 0.25), { rss: 19.5, files: 39, spooled: 80.5 });
  assert.equal(around(rising, 1), { rss: 94.5, files: 189, spooled: 5.5 });
});

test('of a short run are whatever there is', () => {
  assert.equal(around(rising.slice(0, 1), 0.25), { rss: 0, files: 0, spooled: 100 });
});

test('are taken of a running process', async () => {
  let looks = 0;
  const samples = await sampleUntil(process.pid, () => looks++ > 0);
  assert.is(samples.length, 1);
  assert.ok((samples[0]?.rss ?? 0) > 1024 ** 2);
  assert.ok((samples[0]?.files ?? 0) >= 3);
});

test.run();
