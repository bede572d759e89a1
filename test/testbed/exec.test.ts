import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isRunning } from '../support/is-running.ts';
import { exec } from './exec.ts';

export const slow = true;

const test = suite('commands of the test bed');
const maxIdleMs = 3_000;
const shell = (script: string) => exec('/bin/sh', ['-c', script], { maxIdleMs });

test('give what they print, or the end of it with the status', async () => {
  assert.is(await shell('echo out; echo err >&2'), 'out\n');
  await shell('echo out; echo err >&2; exit 3').then(
    () => assert.unreachable(),
    ({ message }) => assert.match(message, /^\/bin\/sh -c ended with 3: out\nerr$|: err\nout$/),
  );
});

test('end with their descendants when none of them has done anything for long', async () => {
  let pid = 0;
  const onProgress = (text: string) => {
    pid = Number(text);
  };
  const script = 'sleep 600 & echo $! >&2; wait';
  const { message } = await exec('/bin/sh', ['-c', script], { maxIdleMs, onProgress }).catch(
    (error) => error,
  );
  assert.match(message, /ended with SIGKILL after 3 s in which it did nothing/);
  assert.ok(pid > 0);
  assert.not.ok(isRunning(pid));
});

test('may take any time while a descendant works in silence', async () => {
  // a busy machine gives it little: 50 ms in three seconds are enough
  const script = 'end=$(($(date +%s) + 8)); (while [ $(date +%s) -lt $end ]; do :; done); echo done';
  assert.is(await shell(script), 'done\n');
});

test.run();
