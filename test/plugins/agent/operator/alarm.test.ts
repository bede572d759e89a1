import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Alarm } from '../../../../src/plugins/agent/operator/channel.ts';

const test = suite('Alarm');

const farAway = 1_000_000;

test('rings at the earliest of the times that it was asked for', async () => {
  const alarm = new Alarm();
  alarm.within(farAway);
  alarm.within(1);
  assert.is(await alarm.rings(), true);
});

test('keeps in mind what it was asked for while nobody waited', async () => {
  const alarm = new Alarm();
  alarm.within(0);
  assert.is(await alarm.rings(), true);
});

test('does not ring before it may', async () => {
  const alarm = new Alarm();
  const begun = performance.now();
  alarm.notBefore(30);
  alarm.within(0);
  await alarm.rings();
  // A timer may be a millisecond early.
  assert.ok(performance.now() - begun >= 28);
});

test('is asked anew after each ring', async () => {
  const alarm = new Alarm();
  alarm.within(0);
  await alarm.rings();
  let rang = false;
  const next = alarm.rings().then(() => {
    rang = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.is(rang, false);
  alarm.within(0);
  await next;
});

test('ends the wait when it is stopped, and every later one', async () => {
  const alarm = new Alarm();
  alarm.within(farAway);
  const waiting = alarm.rings();
  alarm.stop();
  assert.is(await waiting, false);
  alarm.within(0);
  assert.is(await alarm.rings(), false);
});

test.run();
