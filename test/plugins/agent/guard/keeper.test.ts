import { mock } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startGuardPasses } from '../../../../src/plugins/agent/guard/keeper.ts';

const test = suite('passes of the guard');
const intervalMs = 1_100;
const stepMs = 50;

function begin() {
  const seen = { passes: 0, glances: 0, urgent: false, fails: false, finish: () => {} };
  const stop = startGuardPasses({
    intervalMs,
    isUrgent: () => {
      seen.glances += 1;
      if (seen.fails) throw new Error('it cannot be read');
      return seen.urgent;
    },
    pass: () => {
      seen.passes += 1;
      return new Promise((resolve) => {
        seen.finish = resolve;
      });
    },
  });
  return { seen, stop };
}

/** In steps: a timer that is set by another one counts from the end of the step. */
function pass(milliseconds: number): void {
  for (let passed = 0; passed < milliseconds; passed += stepMs) mock.timers.tick(stepMs);
}

test.before.each(() => mock.timers.enable({ apis: ['setTimeout'] }));
test.after.each(() => mock.timers.reset());

test('come after the interval, with glances in between', () => {
  const { seen } = begin();
  pass(1_050);
  assert.equal([seen.passes, seen.glances], [0, 4]);
  pass(50);
  assert.is(seen.passes, 1);
});

test('begin their interval at the end of the one before', async () => {
  const { seen } = begin();
  pass(intervalMs);
  pass(10 * intervalMs);
  assert.is(seen.passes, 1);
  seen.finish();
  await setImmediate();
  pass(1_050);
  assert.is(seen.passes, 1);
  pass(50);
  assert.is(seen.passes, 2);
});

test('come at the next glance where one is urgent', () => {
  const { seen } = begin();
  pass(300);
  seen.urgent = true;
  pass(150);
  assert.is(seen.passes, 0);
  pass(50);
  assert.is(seen.passes, 1);
});

test('come after the interval where a glance fails', () => {
  const { seen } = begin();
  seen.fails = true;
  pass(1_050);
  assert.is(seen.passes, 0);
  pass(50);
  assert.is(seen.passes, 1);
});

test('end with the last one, once it has come to its end', async () => {
  const { seen, stop } = begin();
  pass(intervalMs);
  let stopped = false;
  const stopping = stop().then(() => {
    stopped = true;
  });
  await setImmediate();
  assert.is(stopped, false);
  seen.finish();
  await stopping;
  pass(10 * intervalMs);
  assert.is(seen.passes, 1);
});

test('that have not begun never do', async () => {
  const { seen, stop } = begin();
  await stop();
  pass(10 * intervalMs);
  assert.is(seen.passes, 0);
});

test.run();
