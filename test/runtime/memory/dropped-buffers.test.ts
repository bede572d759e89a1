import { setImmediate as turn } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { droppedBuffers } from '../../../src/runtime/memory.ts';

const test = suite('dropped buffers');
const MiB = 1024 * 1024;

/** Drops `total` bytes of buffers and returns the most that were there at a time. */
async function drop(total: number, tell: (bytes: number) => void): Promise<number> {
  let most = 0;
  for (let gone = 0; gone < total; gone += 65536) {
    Buffer.allocUnsafeSlow(65536).fill(1);
    tell(65536);
    most = Math.max(most, process.memoryUsage().arrayBuffers);
    if (gone % MiB === 0) await turn();
  }
  return most;
}

test('they are collected long before V8 would', async () => {
  const told = await drop(256 * MiB, droppedBuffers);
  const untold = await drop(256 * MiB, () => undefined);
  assert.ok(told < 16 * MiB, `${told / MiB} MiB at a time`);
  assert.ok(untold > 2 * told, `${untold / MiB} MiB without telling`);
});

test('the collector does not stay open to others', () => {
  assert.is(globalThis.gc, undefined);
});

test.run();
