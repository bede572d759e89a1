import { mock } from 'node:test';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createRepeater } from '../../../../src/plugins/wrapper/agent/report.ts';

const test = suite('what is told again and again');

test.before.each(() => mock.timers.enable({ apis: ['setInterval'] }));
test.after.each(() => mock.timers.reset());

test('is told at once, and then every so often', () => {
  const told: string[] = [];
  createRepeater(1_000)(() => told.push('report'));
  assert.is(told.length, 1);
  mock.timers.tick(999);
  assert.is(told.length, 1);
  mock.timers.tick(2_001);
  assert.is(told.length, 4);
});

test('is what came last, from when it came', () => {
  const told: string[] = [];
  const repeat = createRepeater(1_000);
  repeat(() => told.push('first'));
  mock.timers.tick(600);
  repeat(() => told.push('second'));
  mock.timers.tick(999);
  assert.equal(told, ['first', 'second']);
  mock.timers.tick(1);
  assert.equal(told, ['first', 'second', 'second']);
});

test.run();
