import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { BoundedMap } from '../../../src/runtime/bounds/bounded-map.ts';

const test = suite('a bounded map');

test('forgets what is too old, and keeps what is only too old for one reader', () => {
  let now = 0;
  const map = new BoundedMap<string, string>(2, { age: { mostMs: 100, now: () => now } });
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
  const map = new BoundedMap<string, number>(2);
  map.set('a', 1);
  map.set('b', 2);
  map.get('a');
  map.set('c', 3);
  assert.equal(
    ['a', 'b', 'c'].map((key) => map.get(key)),
    [1, undefined, 3],
  );
});

test('counts no look as a use, and gives nothing too old to one', () => {
  let now = 0;
  const map = new BoundedMap<string, number>(2, { age: { mostMs: 100, now: () => now } });
  map.set('a', 1);
  map.set('b', 2);
  assert.is(map.peek('a'), 1);
  assert.equal([...map].at(0), ['a', 1]);
  map.set('c', 3);
  assert.is(map.peek('a'), undefined);
  now = 100;
  assert.is(map.peek('b'), undefined);
});

test('takes a value for as old as it is said to be', () => {
  let now = 50;
  const map = new BoundedMap<string, number>(2, { age: { mostMs: 100, now: () => now } });
  map.set('a', 1, 20);
  now = 119;
  assert.is(map.get('a'), 1);
  now = 120;
  assert.is(map.get('a'), undefined);
});

test('is bounded by what its entries cost, and keeps none that costs more by itself', () => {
  const map = new BoundedMap<string, number>(10, { costOf: (_, value) => value });
  const keys = () => [...map].map(([key]) => key);
  map.set('a', 4);
  map.set('b', 4);
  map.set('a', 6);
  assert.equal(keys(), ['b', 'a']);
  map.set('large', 11);
  assert.equal(keys(), ['b', 'a']);
  map.set('a', 11);
  assert.equal(keys(), ['b']);
  map.set('c', 6);
  map.set('d', 1);
  assert.equal(keys(), ['c', 'd']);
  map.delete('c');
  map.set('e', 9);
  assert.equal(keys(), ['d', 'e']);
});

test('never holds more than it may', () => {
  const step = fc.record({ key: fc.constantFrom(...'abcdefgh'), wait: fc.nat(60), set: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let now = 0;
      const map = new BoundedMap<string, string>(3, { age: { mostMs: 100, now: () => now } });
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
