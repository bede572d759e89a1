import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { BoundedMap } from '../../../src/plugins/operator/bounds.ts';

const test = suite('a bounded map');

test('forgets what is too old, and keeps what is only too old for one reader', () => {
  let now = 0;
  const map = new BoundedMap<string>(2, 100, () => now);
  map.set('a', 'x');
  now = 50;
  assert.is(map.get('a'), 'x');
  assert.is(map.get('a', 50), undefined);
  assert.is(map.get('a', 51), 'x');
  now = 100;
  assert.is(map.get('a'), undefined);
  assert.is(map.size, 0);
});

test('forgets what was used longest ago', () => {
  const map = new BoundedMap<number>(2, 100, () => 0);
  map.set('a', 1);
  map.set('b', 2);
  map.get('a');
  map.set('c', 3);
  assert.equal(
    ['a', 'b', 'c'].map((key) => map.get(key)),
    [1, undefined, 3],
  );
});

test('never holds more than it may', () => {
  const step = fc.record({ key: fc.constantFrom(...'abcdefgh'), wait: fc.nat(60), set: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let now = 0;
      const map = new BoundedMap<string>(3, 100, () => now);
      for (const { key, wait, set } of steps) {
        now += wait;
        if (set) map.set(key, key);
        const got = map.get(key);
        assert.ok(got === key || (!set && got === undefined));
        assert.ok(map.size <= 3);
      }
    }),
  );
});

test.run();
