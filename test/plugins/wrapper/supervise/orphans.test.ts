import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type TemporaryFolder, temporaryFolder } from '../../../support/temporary.ts';
import { processesWith } from './support/process-status.ts';
import { deafToTerm } from './support/programs.ts';
import { type FixtureEvent, runInit, runWrapper, startWrapper } from './support/wrapper-process.ts';

export const slow = true;

const exitCodes = (events: readonly FixtureEvent[]) =>
  events.flatMap((event) => (event.kind === 'reaped' ? [event.exitCode] : []));

const orphans = suite('orphans below the wrapper');
let folder: TemporaryFolder;

orphans.before(() => {
  folder = temporaryFolder('orphans');
});
orphans.after(() => folder.remove());

/** Seconds that no other process sleeps for. */
const forever = `3600.${process.pid}`;
/** Five daemons of that length, then something else. */
const fiveDaemons = (seconds: string, then: string) =>
  `for i in 1 2 3 4 5; do (setsid sleep ${seconds} &); done; ${then}`;
/** Until the wrapper has no other child, not even one that has ended and is not reaped. */
const untilAlone = 'until [ "$(cat /proc/$PPID/task/*/children)" = "$$ " ]; do sleep 0.02; done';
const untilReady = 'until [ -e "$READY" ]; do sleep 0.02; done';

orphans('five are reaped while the application runs on, and its exit status stays its own', async () => {
  const { status, events } = await runWrapper(['sh', '-c', fiveDaemons('0.1', `${untilAlone}; exit 6`)]);
  assert.is(status, 6);
  assert.equal(exitCodes(events), [0, 0, 0, 0, 0]);
});

orphans('60 exit statuses are right with orphans that end at the same moment', async () => {
  const script = 'for i in 1 2 3 4 5; do (sleep 0.03 &); done; sleep 0.03; exit "$0"';
  let reaped = 0;
  for (let run = 0; run < 60; run++) {
    const { status, events } = await runInit(['/bin/sh', '-c', script, String(run)]);
    assert.is(status, run);
    reaped += exitCodes(events).length;
  }
  assert.is(reaped, 300);
});

orphans('daemons do not outlive the wrapper', async () => {
  const { status, events } = await runWrapper(['sh', '-c', fiveDaemons(forever, 'exit 6')]);
  assert.is(status, 6);
  assert.equal(exitCodes(events), [143, 143, 143, 143, 143]);
  assert.equal(processesWith(forever), []);
});

orphans('a daemon that ignores SIGTERM is killed after the grace, and its children with it', async () => {
  const daemon = `sleep ${forever} & exec "$0" "$@" "$READY"`;
  const script = `(setsid sh -c "$DAEMON" "$@" &); ${untilReady}; exit 6`;
  const variables = [`DAEMON=${daemon}`, `READY=${join(folder.path, 'deaf')}`];
  const command = ['env', ...variables, 'sh', '-c', script, 'sh', ...deafToTerm];
  const { status, events, output } = await runWrapper(command, { endGraceMs: 300 });
  assert.is(status, 6);
  assert.ok(exitCodes(events).includes(137));
  assert.match(output, 'SIGTERM');
  assert.equal(processesWith(forever), []);
});

orphans('a stopped daemon is continued, so that it can end by itself', async () => {
  const daemon = `trap 'echo ended; exit' TERM; touch "$READY"; kill -STOP $$; sleep 60 & wait`;
  const variables = [`DAEMON=${daemon}`, `READY=${join(folder.path, 'stopped')}`];
  const script = `(setsid sh -c "$DAEMON" &); ${untilReady}; sleep 0.1`;
  const { output } = await runWrapper(['env', ...variables, 'sh', '-c', script], { endGraceMs: 10_000 });
  assert.match(output, 'ended');
});

orphans('of the application before do not live on below its successor', async () => {
  const restartWhen = join(folder.path, 'restart');
  // without a child of its own, which might be reaped first
  const script = `echo run; (setsid sleep ${forever} &); touch "$0"; exec sleep 60`;
  const wrapper = startWrapper(['sh', '-c', script, restartWhen], { restartWhen });
  assert.is((await wrapper.event('reaped')).exitCode, 143);
  await wrapper.wrote('run\nrun\n');
  wrapper.send('SIGTERM');
  assert.is(await wrapper.status, 143);
  assert.equal(processesWith(forever), []);
});

orphans.run();
