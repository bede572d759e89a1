import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SizeCache } from '../../../../src/plugins/proxy/operations/list-objects.ts';

const test = suite('cache of sizes');

test('a size is remembered, zero too, and can change', () => {
  const cache = new SizeCache();
  assert.is(cache.get('a'), undefined);
  cache.set('a', 0);
  assert.is(cache.get('a'), 0);
  cache.set('a', 7);
  assert.is(cache.get('a'), 7);
});

test('memory is bounded, and what was used last stays', () => {
  const room = 10;
  const cache = new SizeCache(room * (2 + 72));
  for (let index = 0; index < room; index++) cache.set(String(index), index);
  cache.get('0');
  cache.set('x', 1);
  assert.is(cache.get('0'), 0);
  assert.is(cache.get('1'), undefined);
  for (let index = 0; index < 1000; index++) cache.set('x', index);
  assert.is(cache.get('9'), 9, 'setting one again takes no room');
});

test.run();
