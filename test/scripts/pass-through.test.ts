import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const MODULE = new URL('../../scripts/lib/pass-through.mjs', import.meta.url).href;
const pass = suite('passThrough');

/** Runs a child's source under passThrough in a process of its own, and sends it a signal once it says `up`. */
async function run(source: string, signal?: NodeJS.Signals) {
  const outer = `import { passThrough } from ${JSON.stringify(MODULE)};
    process.exitCode = await passThrough(process.execPath, ['-e', ${JSON.stringify(source)}]);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', outer], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exit = once(child, 'exit');
  if (signal) {
    await once(child.stdout, 'data');
    child.kill(signal);
  }
  const [code, ended] = await exit;
  return { code, ended };
}

pass('gives the status of the child', async () => {
  assert.equal(await run('process.exit(7)'), { code: 7, ended: null });
});

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  pass(`hands ${signal} on and waits for what the child makes of it`, async () => {
    const source = `setInterval(() => {}, 1000);
      process.on('${signal}', () => setTimeout(() => process.exit(5), 50));
      console.log('up');`;
    assert.equal(await run(source, signal), { code: 5, ended: null });
  });
}

pass('ends by the signal that ended the child', async () => {
  const result = await run("setInterval(() => {}, 1000); console.log('up')", 'SIGTERM');
  assert.equal(result, { code: null, ended: 'SIGTERM' });
});

pass.run();
