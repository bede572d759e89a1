import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { http } from '../../support/http.ts';
import { isRunning } from '../../support/is-running.ts';
import { family, residentWorker } from '../../support/process-memory.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { waitFor } from '../../support/wait-for.ts';
import { type Bed, startBed } from './support/bed.ts';

const crash = suite('what becomes of the application when a worker that stays breaks');
const folder = temporaryFolder('crash');
let bed: Bed;

crash.before(async () => {
  bed = await startBed();
  await bed.kv.put('app', { KEY: 'one' });
});
crash.after.each(() => bed?.endRuns());
crash.after(async () => {
  await bed?.stop();
  await folder.remove();
});

/** One that ends after each pass costs that pass when it breaks: init/workers.server.test.ts. */
const stays = { SVC_RESIDENT: 'true' };

/** The wrapper, with a file that it and its worker load first. */
const loading = (file: string) => ({
  entry: [
    process.execPath,
    '--require',
    file,
    fileURLToPath(new URL('../../../dist/wrapper.cjs', import.meta.url)),
  ],
  env: stays,
});

/** Makes the wrapper run this statement, once `now` was called. */
function breaking(name: string, statement: string) {
  const file = join(folder.path, `${name}.cjs`);
  const trigger = join(folder.path, `${name}.now`);
  writeFileSync(
    file,
    `const { existsSync } = require('node:fs');
     const timer = setInterval(() => {
       if (!existsSync(${JSON.stringify(trigger)})) return;
       clearInterval(timer);
       ${statement}
     }, 20);`,
  );
  return { ...loading(file), now: () => writeFileSync(trigger, '') };
}

const obedient = ['/bin/sh', '-c', 'trap "echo GOT; exit 3" TERM; echo RUN $$; while :; do sleep 0.1; done'];
const deaf = ['/bin/sh', '-c', 'trap "" TERM; echo RUN $$; while :; do sleep 0.1; done'];

const pidOf = (line: RegExpExecArray) => Number(line[1]);

const gone = (pid: number) => waitFor('the end of the application', () => !isRunning(pid));

for (const [origin, statement] of [
  ['uncaughtException', 'throw new Error("injected");'],
  ['unhandledRejection', 'Promise.reject(new Error("injected"));'],
] as const) {
  crash(`it is ended in order, and the status is 70 (${origin})`, async () => {
    const { now, ...broken } = breaking(origin, statement);
    const run = await bed.run({ command: obedient, ...broken });
    const pid = pidOf(await run.says(/RUN (\d+)/));
    now();
    assert.is((await run.exited).code, 70);
    const [line] = run.events('crashed');
    assert.equal([line?.level, line?.['error'], line?.['origin']], ['error', 'injected', origin]);
    assert.match(run.output(), /GOT/);
    await gone(pid);
  });
}

crash('it is killed when its grace is over', async () => {
  const { now, ...broken } = breaking('deaf', 'throw new Error("injected");');
  const run = await bed.run({ command: deaf, ...broken, env: { ...stays, SVC_STOP_GRACE: '300ms' } });
  const pid = pidOf(await run.says(/RUN (\d+)/));
  now();
  assert.is((await run.exited).code, 70);
  await gone(pid);
});

crash('it is ended in order when the worker is killed, and svc-init says so', async () => {
  const run = await bed.run({ command: obedient, env: stays });
  const pid = pidOf(await run.says(/RUN (\d+)/));
  process.kill(residentWorker(run.pid), 'SIGKILL');
  assert.is((await run.exited).code, 70);
  const [line] = run.events('worker.failed');
  assert.equal([line?.level, line?.['exit_code']], ['error', 137]);
  assert.match(run.output(), /GOT/);
  await gone(pid);
});

crash('it is ended when the worker is killed while the application restarts', async () => {
  await bed.kv.put('restarts', { KEY: 'one' });
  const env = { ...stays, RENEWAL_INTERVAL: '1s', SVC_ROTATION: 'restart', SVC_STOP_GRACE: '3s' };
  const run = await bed.run({ paths: ['secret/restarts'], command: deaf, env });
  const pid = pidOf(await run.says(/RUN (\d+)/));
  await bed.kv.put('restarts', { KEY: 'two' });
  await waitFor('the restart', async () => (await http(`${await run.health()}/readyz`)).status === 503);
  process.kill(residentWorker(run.pid), 'SIGKILL');
  assert.is((await run.exited).code, 70);
  assert.is(run.events('application.started').length, 1);
  await gone(pid);
});

crash('application and worker go with svc-init', async () => {
  const run = await bed.run({ command: deaf, env: stays });
  await run.says(/RUN (\d+)/);
  const all = family(run.pid);
  process.kill(run.pid, 'SIGKILL');
  for (const pid of all) await gone(pid);
});

crash('before there is one, the wrapper ends with 70', async () => {
  const { now, ...broken } = breaking('early', 'throw new Error("injected");');
  now();
  const run = await bed.run({ vault: { addr: 'http://127.0.0.1:9', token: 's.none' }, ...broken });
  assert.is((await run.exited).code, 70);
  assert.is(run.events('application.started').length, 0);
});

crash('a system that refuses the wipe is told of, and the application runs', async () => {
  const file = join(folder.path, 'refusing.cjs');
  writeFileSync(
    file,
    `const { dlopen } = process;
     process.dlopen = (module, ...rest) => {
       dlopen(module, ...rest);
       const { load } = module.exports;
       const refused = { value: -1n, errnoCode: 1 };
       module.exports.load = (call) => (/^process_vm_/.test(call.funcName) ? refused : load(call));
     };`,
  );
  const env = { ...stays, RENEWAL_INTERVAL: '1s', SVC_ROTATION: 'restart' };
  const run = await bed.run({ command: obedient, ...loading(file), env });
  await run.says(/RUN/);
  assert.match((await run.event('secrets.wipe.failed', 2))['error'], /EPERM/);
  assert.is(run.events('secrets.keep.failed').length, 0);
  run.signal('SIGTERM');
  assert.is((await run.exited).code, 3);
});

crash('warnings of Node are log lines like any other', async () => {
  const { now, ...broken } = breaking('warning', 'process.emitWarning("mind the gap", "TestWarning", "T1");');
  const run = await bed.run({ command: obedient, ...broken });
  await run.says(/RUN/);
  now();
  assert.equal((await run.event('node.warning'))['error'], 'mind the gap');
  for (const line of run.output().trim().split('\n')) assert.match(line, /^({|RUN)/);
  run.signal('SIGTERM');
  assert.is((await run.exited).code, 3);
});

crash('a log that nobody reads stops neither the start nor the signals', async () => {
  const fifo = join(folder.path, 'log');
  execFileSync('mkfifo', [fifo]);
  const log = openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK);
  for (const size of [4096, 1]) assert.throws(() => fill(log, size), /EAGAIN/);
  const run = await bed.run({ command: obedient, under: ['/bin/sh', '-c', `exec "$0" "$@" 2>'${fifo}'`] });
  await run.says(/RUN/);
  run.signal('SIGTERM');
  await run.says(/GOT/);
  assert.is((await run.exited).code, 3);
  closeSync(log);
});

function fill(descriptor: number, size: number): never {
  for (;;) writeSync(descriptor, Buffer.alloc(size));
}

crash.run();
