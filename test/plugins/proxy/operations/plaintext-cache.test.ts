import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { PlaintextCache } from '../../../../src/plugins/proxy/operations/list-objects.ts';

const test = suite('cache of what listings show');

test('a size is remembered, zero too, and can change', () => {
  const cache = new PlaintextCache();
  assert.is(cache.get('a'), undefined);
  cache.set('a', { size: 0 });
  assert.is(cache.get('a')?.size, 0);
  cache.set('a', { size: 7 });
  assert.is(cache.get('a')?.size, 7);
});

test('memory is bounded, and what was used last stays', () => {
  const room = 10;
  const cache = new PlaintextCache(room * (2 + 144));
  for (let index = 0; index < room; index++) cache.set(String(index), { size: index });
  cache.get('0');
  cache.set('x', { size: 1 });
  assert.is(cache.get('0')?.size, 0);
  assert.is(cache.get('1'), undefined);
  for (let index = 0; index < 1000; index++) cache.set('x', { size: index });
  assert.is(cache.get('9')?.size, 9, 'setting one again takes no room');
});

test.run();
