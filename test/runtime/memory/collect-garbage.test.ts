import { spawnSync } from 'node:child_process';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createCollector } from '../../../src/runtime/memory.ts';

const collecting = suite('collecting garbage');

/** Whether an object that nothing holds is gone after `collect`; a turn lets the weak reference go. */
async function isCollected(collect: () => void): Promise<boolean> {
  const dead = new WeakRef({ bytes: new Uint8Array(1024) });
  await new Promise(setImmediate);
  collect();
  return dead.deref() === undefined;
}

collecting('frees what is dead, and rests for the interval', async () => {
  const collect = createCollector(3_600_000);
  assert.is(await isCollected(collect), true);
  assert.is(await isCollected(collect), false, 'once an hour');
  assert.is(await isCollected(createCollector(0)), true);
});

collecting('spares locked memory', () => {
  const fixture = new URL('fixtures/collect-locked.ts', import.meta.url).pathname;
  const { status, signal, stderr } = spawnSync(process.execPath, [fixture], { encoding: 'utf8' });
  assert.equal([status, signal], [0, null], stderr);
});

collecting.run();
