import { readlinkSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { family } from '../../support/process-memory.ts';
import type { WrapperRun } from '../../support/svc-wrapper.ts';
import { waitFor } from '../../support/wait-for.ts';
import { shown } from './support/bed.ts';
import { type ConfinedBed, checkPrefix, pidNamespace, startConfinedBed } from './support/confined.ts';

checkPrefix(pidNamespace);

const pid1 = suite('the wrapper as PID 1 of a container');
let bed: ConfinedBed;

pid1.before(async () => {
  bed = await startConfinedBed();
});
pid1.after.each(() => bed?.endRuns());
pid1.after(() => bed?.stop());

const sh = (script: string) => ['/bin/sh', '-c', script];
const start = (command: readonly string[], env: Record<string, string> = {}) =>
  bed.confined(pidNamespace, { command, env: { SVC_LOG_LEVEL: 'debug', ...env } });

/** The wrapper itself, as this namespace numbers it: the child of `unshare`. */
async function inner({ pid }: WrapperRun): Promise<number> {
  return waitFor('the namespace', () => family(pid)[1]);
}

pid1('starts the application with the secrets; the exit status is the application’s', async () => {
  const run = await start(sh('echo "KEY=$KEY PARENT=$PPID"; exit 7'));
  assert.is((await run.exited).code, 7);
  assert.match(run.output(), /^KEY=one PARENT=1$/m);
});

pid1('reaps orphans', async () => {
  const run = await start(
    sh('for i in 1 2 3 4 5; do (setsid sleep 0.2 &); done; sleep 1; echo OVER; exec sleep 600'),
  );
  await run.says(/^OVER$/m);
  await run.event('orphan.reaped', 5);
  const own = process.env['SVC_RESIDENT'] !== 'true' ? 2 : 3; // svc-init, its health process, a worker that stays
  assert.is(family(await inner(run)).length, own + 1, 'the wrapper and its application, no zombie');
});

pid1('passes SIGTERM on, which a PID 1 without a handler would ignore', async () => {
  const run = await start(sh('trap "echo TERM; exit 9" TERM; echo RUN; while :; do sleep 0.1; done'));
  await run.says(/^RUN$/m);
  process.kill(await inner(run), 'SIGTERM');
  assert.is((await run.exited).code, 9);
  assert.match(run.output(), /^TERM$/m);
});

if (process.env['SVC_RESIDENT'] !== 'true')
  pid1('takes a SIGTERM that arrives while svc-init takes the place of Node', async () => {
    for (let round = 0; round < 5; round++) {
      const run = await start(sh('echo RUN; exec sleep 600'));
      const pid = await inner(run);
      while (!readlinkSync(`/proc/${pid}/exe`).endsWith('/svc-init')) await turn();
      process.kill(pid, 'SIGTERM');
      assert.is((await run.exited).code, 143);
    }
  });

pid1('is 143 when SIGTERM ends the application, 137 when it had to be killed', async () => {
  const plain = await start(sh('echo RUN; exec sleep 600'));
  await plain.says(/^RUN$/m);
  process.kill(await inner(plain), 'SIGTERM');
  assert.is((await plain.exited).code, 143);
  const deaf = await start(sh('trap "" TERM; echo RUN; while :; do sleep 0.1; done'), {
    SVC_STOP_GRACE: '300ms',
  });
  await deaf.says(/^RUN$/m);
  process.kill(await inner(deaf), 'SIGTERM');
  assert.is((await deaf.exited).code, 137);
});

pid1('restarts the application when secrets change', async () => {
  await bed.kv.put('rotating', { KEY: 'one' });
  const env = { RENEWAL_INTERVAL: '1s', SVC_ROTATION: 'restart', SHOWN: 'KEY' };
  const run = await bed.confined(pidNamespace, { paths: ['secret/rotating'], env });
  const before = await shown(run);
  await bed.kv.put('rotating', { KEY: 'two' });
  const after = await shown(run, 2);
  assert.equal([before.env, after.env], [{ KEY: 'one' }, { KEY: 'two' }]);
  assert.equal([before.descriptor, after.descriptor], [{ KEY: 'one' }, { KEY: 'two' }]);
  assert.is.not(before.pid, after.pid);
});

pid1('restarts it once, where /proc is that of another namespace', async () => {
  await bed.kv.put('foreign', { KEY: 'one' });
  const env = { RENEWAL_INTERVAL: '1s', SVC_ROTATION: 'restart', SVC_LOG_LEVEL: 'debug' };
  const under = pidNamespace.filter((word) => word !== '--mount-proc');
  const command = sh('echo "KEY=$KEY"; exec sleep 600');
  const run = await bed.confined(under, { paths: ['secret/foreign'], command, env });
  await run.says(/^KEY=one$/m);
  await bed.kv.put('foreign', { KEY: 'two' });
  await run.says(/^KEY=two$/m);
  await run.event('token.kept', run.events('token.kept').length + 2);
  assert.is(run.events('application.started').length, 2);
});

pid1('SVC_EXEC makes the application PID 1', async () => {
  const run = await start(sh('echo "I AM $$ WITH $KEY"; exit 5'), { SVC_EXEC: 'true' });
  assert.is((await run.exited).code, 5);
  assert.match(run.output(), /^I AM 1 WITH one$/m);
});

pid1('leaves nothing in the namespace when a start fails', async () => {
  const run = await start(['no-such-command']);
  assert.is((await run.exited).code, 127);
});

pid1.run();
