import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { temporaryFolder } from '../../../support/temporary.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { caughtSignals } from './support/process-status.ts';
import { runWrapper, startWrapper } from './support/wrapper-process.ts';

const become = suite('replacing the wrapper by the application');

become('keeps the process id; arguments arrive, and the exit status is its own', async () => {
  const wrapper = startWrapper(['sh', '-c', 'echo $$ "$0"; exit 7', 'an argument'], { exec: true });
  assert.is(await wrapper.status, 7);
  assert.is(wrapper.output(), `${wrapper.pid} an argument\n`);
});

become('a program that is not there or cannot be run is refused as under supervision', async () => {
  for (const [file, status, code] of [
    ['svc-no-such-program', 127, 'PROGRAM_NOT_FOUND'],
    ['/etc/passwd', 126, 'PROGRAM_NOT_EXECUTABLE'],
  ] as const) {
    const ended = await runWrapper([file], { exec: true });
    assert.is(ended.status, status);
    assert.is(ended.events.find((event) => event.kind === 'failed')?.code, code);
  }
});

become('before anything was undone: signals are still caught when it fails', async () => {
  const folder = temporaryFolder('become');
  const file = join(folder.path, 'no-program');
  writeFileSync(file, 'text', { mode: 0o755 });
  const wrapper = startWrapper([file], { exec: true, lingerMs: 60_000 });
  assert.match((await wrapper.event('failed')).message, '#!');
  wrapper.send('SIGTERM');
  assert.is((await wrapper.event('ended-before-start')).signal, 'SIGTERM');
  assert.is(await wrapper.status, 143);
  await folder.remove();
});

become('a signal that arrives before the replacement ends the wrapper', async () => {
  const wrapper = startWrapper(['sh', '-c', 'echo started'], { exec: true, delayMs: 60_000 });
  await waitFor('the listeners', () => caughtSignals(wrapper.pid).has('SIGPWR'));
  wrapper.send('SIGTERM');
  assert.is(await wrapper.status, 143);
  assert.is(wrapper.output(), '');
});

become('a signal that was caught, but not yet delivered, is not lost', async () => {
  const wrapper = startWrapper(['sh', '-c', 'echo started'], { exec: true, raiseFirst: 'SIGTERM' });
  assert.is(await wrapper.status, 143);
  assert.is((await wrapper.event('ended-before-start')).signal, 'SIGTERM');
  assert.is(wrapper.output(), '');
});

become('a signal that was caught, but not yet delivered, can interrupt the start', async () => {
  const options = { exec: true, raiseFirst: 'SIGTERM', interruptible: true } as const;
  const ended = await runWrapper(['sh', '-c', 'echo started'], options);
  assert.match(ended.events.find((event) => event.kind === 'failed')?.message ?? '', /aborted/);
  assert.is(ended.output, '');
});

become.run();
