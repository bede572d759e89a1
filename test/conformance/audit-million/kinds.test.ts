import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Kind, keyOf, kindOf, kinds } from './kinds.ts';

const test = suite('objects of a million');

test('of each thousand so many are of a kind as is said', () => {
  const counts = new Map<Kind, number>();
  for (let index = 2_000; index < 3_000; index++)
    counts.set(kindOf(index), (counts.get(kindOf(index)) ?? 0) + 1);
  assert.equal(Object.fromEntries(counts), kinds);
});

test('have keys of their own, in the order of their numbers', () => {
  const keys = Array.from({ length: 200_000 }, (_, index) => keyOf(index));
  assert.is(new Set(keys).size, keys.length);
  assert.equal(keys, keys.toSorted());
});

test.run();
