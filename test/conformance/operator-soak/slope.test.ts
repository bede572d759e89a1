import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { slopeOf } from './slope.ts';

const test = suite('slope of samples');

test('is that of a line, whatever its noise cancels out to', () => {
  const line = [0, 1, 2, 3].map((at) => ({ at, value: 5 + 2 * at }));
  assert.is(slopeOf(line), 2);
  const noisy = line.map(({ at, value }) => ({ at, value: value + (at === 0 || at === 3 ? 1 : -1) }));
  assert.is(slopeOf(noisy), 2);
  assert.is(slopeOf(line.map(({ at }) => ({ at, value: 7 }))), 0);
});

test('is none of fewer than two samples', () => {
  assert.is(slopeOf([]), 0);
  assert.is(slopeOf([{ at: 1, value: 9 }]), 0);
});

test.run();
