import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { droppedBuffers } from '../../../src/runtime/memory/dropped-buffers.ts';

const test = suite('dropped buffers');
const MiB = 1024 * 1024;

test('memory outside the heap stays flat while buffers come and go', async () => {
  let highest = 0;
  for (let round = 0; round < 512; round++) {
    for (let count = 0; count < 16; count++) Buffer.allocUnsafeSlow(64 * 1024).fill(count);
    droppedBuffers(MiB);
    highest = Math.max(highest, process.memoryUsage().arrayBuffers);
    await null;
  }
  assert.ok(highest < 16 * MiB, `${highest / MiB} MiB at the highest`);
});

test.run();
