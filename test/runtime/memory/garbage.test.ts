import { setImmediate as turn } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { countGarbage } from '../../../src/runtime/memory/garbage.ts';

const test = suite('garbage');

const MiB = 1024 * 1024;

/** Drops `total` bytes of buffers and returns the most that were there at a time. */
async function drop(total: number, count: (bytes: number) => void): Promise<number> {
  let most = 0;
  for (let dropped = 0; dropped < total; dropped += 65536) {
    Buffer.allocUnsafeSlow(65536).fill(1);
    count(65536);
    most = Math.max(most, process.memoryUsage().arrayBuffers);
    if (dropped % MiB === 0) await turn();
  }
  return most;
}

test('counted buffers are collected long before V8 would', async () => {
  const counted = await drop(256 * MiB, countGarbage);
  const uncounted = await drop(256 * MiB, () => undefined);
  assert.ok(counted < 32 * MiB, `${counted / MiB} MiB at a time`);
  assert.ok(uncounted > 2 * counted, `${uncounted / MiB} MiB without counting`);
});

test('the collector does not stay open to others', () => {
  assert.is(globalThis.gc, undefined);
});

test.run();
