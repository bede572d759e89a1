import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createClock } from '../../../../src/plugins/agent/access-events.ts';
import { bootTime } from '../../../../src/plugins/agent/guard/map-readings.ts';

const test = suite('clock of access events');

const bootedMs = 1_700_000_000_000;

function sources() {
  const time = { wallOffset: 0, ms: 0, coarse: 0 };
  return {
    time,
    wall: () => bootedMs + time.ms + time.wallOffset,
    boot: () => BigInt(time.ms - time.coarse) * 1_000_000n,
    steady: () => time.ms,
  };
}

test('turns time since boot into wall time', () => {
  const given = sources();
  given.time.ms = 90_000;
  const clock = createClock(given);
  assert.is(clock.wallTime(89_999_000_000n), BigInt(bootedMs + 89_999) * 1_000_000n);
});

test('does not follow the coarseness of its readings, so that hits keep their order', () => {
  const given = sources();
  const clock = createClock(given);
  const first = clock.wallTime(1n);
  given.time.coarse = 10;
  given.time.ms = 5_000;
  assert.is(clock.wallTime(1n), first);
});

test('follows when the clock of the node is set', () => {
  const given = sources();
  const clock = createClock(given);
  const first = clock.wallTime(1n);
  given.time.wallOffset = 3_600_000;
  given.time.ms = 5_000;
  assert.is(clock.wallTime(1n) - first, 3_600_000_000_000n);
});

test('reads this machine', () => {
  const clock = createClock();
  const now = Number(clock.wallTime(bootTime()) / 1_000_000n);
  assert.ok(Math.abs(now - Date.now()) < 60_000);
});

test.run();
