import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { forwardedSignals } from '../../../../src/plugins/wrapper/interruption.ts';
import { type TemporaryFolder, temporaryFolder } from '../../../support/temporary.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { caughtSignals } from './support/process-status.ts';
import { deafToTerm, signalRecorder, stopsItself } from './support/programs.ts';
import { startWrapper, type WrapperProcess } from './support/wrapper-process.ts';

export const idle = true;
export const slow = true;

const lines = (wrapper: WrapperProcess) => wrapper.output().trim().split('\n').slice(1);

/** Sends the recorder what ends it, past the wrapper. */
async function finish(wrapper: WrapperProcess): Promise<string[]> {
  process.kill((await wrapper.event('started')).pid, 34 as unknown as NodeJS.Signals);
  assert.is(await wrapper.status, 5);
  return lines(wrapper);
}

const signals = suite('signals of a supervised application');
let folder: TemporaryFolder;

signals.before(() => {
  folder = temporaryFolder('signals');
});
signals.after(() => folder.remove());

signals('each signal reaches it exactly once, and nothing else does', async () => {
  const wrapper = startWrapper(signalRecorder);
  await wrapper.wrote('ready');
  for (const [index, signal] of forwardedSignals.entries()) {
    wrapper.send(signal);
    await waitFor(signal, () => lines(wrapper).length > index, { details: wrapper.output });
  }
  assert.equal(await finish(wrapper), [...forwardedSignals]);
});

signals(
  'none of its own accord: not at the start, not by the wrapper’s timer, not when others end',
  async () => {
    const orphans = 'for i in 1 2 3; do (setsid sleep 0.1 &); done; exec "$0" "$@"';
    const wrapper = startWrapper(['sh', '-c', orphans, ...signalRecorder]);
    await wrapper.wrote('ready');
    await waitFor(
      'reaped orphans',
      () => wrapper.events().filter(({ kind }) => kind === 'reaped').length === 3,
    );
    await new Promise((resolve) => setTimeout(resolve, 1500));
    assert.equal(await finish(wrapper), []);
  },
);

signals('real-time signals, which Node cannot listen to, do not end the wrapper', async () => {
  const wrapper = startWrapper(signalRecorder);
  await wrapper.wrote('ready');
  for (const number of [34, 37, 64]) process.kill(wrapper.pid, number as unknown as NodeJS.Signals);
  wrapper.send('SIGUSR1');
  await wrapper.wrote('SIGUSR1');
  assert.equal(await finish(wrapper), ['SIGUSR1']);
});

signals('its children get none, unless the group is asked for', async () => {
  const both = '"$0" "$@" & "$0" "$@"; wait';
  for (const [signalGroup, expected] of [
    [false, 0],
    [true, 2],
  ] as const) {
    const wrapper = startWrapper(['sh', '-c', `trap '' USR1; ${both}`, ...signalRecorder], { signalGroup });
    await waitFor('two recorders', () => wrapper.output().split('ready').length === 3);
    wrapper.send('SIGUSR1');
    wrapper.send('SIGTERM');
    await wrapper.status;
    assert.is(wrapper.output().split('SIGUSR1').length - 1, expected);
  }
});

for (const signal of ['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGHUP'] as const) {
  signals(`${signal} before the start ends the wrapper`, async () => {
    const wrapper = startWrapper(['sh', '-c', 'echo started'], { delayMs: 60_000 });
    await waitFor('listeners', () => caughtSignals(wrapper.pid).has('SIGPWR'));
    wrapper.send(signal);
    assert.is((await wrapper.event('ended-before-start')).signal, signal);
    assert.is(await wrapper.status, 143);
    assert.is(wrapper.output(), '');
  });
}

signals('SIGUSR1 before the start does nothing', async () => {
  const wrapper = startWrapper(['sh', '-c', 'echo started'], { delayMs: 1500 });
  await waitFor('listeners', () => caughtSignals(wrapper.pid).has('SIGPWR'));
  wrapper.send('SIGUSR1');
  assert.is(await wrapper.status, 0);
  assert.is(wrapper.output(), 'started\n');
});

signals('a child that ignores SIGTERM is killed after the grace: 137', async () => {
  const wrapper = startWrapper(deafToTerm, { stopGraceMs: 300 });
  await wrapper.wrote('ready');
  wrapper.send('SIGTERM');
  wrapper.send('SIGTERM');
  assert.is(await wrapper.status, 137);
  assert.match(wrapper.output(), 'SIGTERM');
  assert.is((await wrapper.event('killed')).graceMs, 300);
});

signals('a child that heeds SIGTERM ends with its own status, and is not killed', async () => {
  const wrapper = startWrapper(['sh', '-c', 'trap "exit 9" TERM; echo ready; while :; do sleep 0.05; done']);
  await wrapper.wrote('ready');
  wrapper.send('SIGTERM');
  assert.is(await wrapper.status, 9);
  assert.not(wrapper.events().some(({ kind }) => kind === 'killed'));
});

signals('SIGTERM to a stopped child continues it, so that it can end', async () => {
  const wrapper = startWrapper(stopsItself);
  assert.is((await wrapper.event('stopped')).signal, 'SIGSTOP');
  wrapper.send('SIGTERM');
  assert.is(await wrapper.status, 4);
  assert.ok(lines(wrapper).includes('SIGTERM'));
});

signals(
  'without a terminal a stopped child leaves the wrapper running, and SIGCONT continues it',
  async () => {
    const wrapper = startWrapper(['sh', '-c', 'echo ready; while :; do sleep 0.05; done']);
    await wrapper.wrote('ready');
    wrapper.send('SIGTSTP');
    assert.is((await wrapper.event('stopped')).signal, 'SIGTSTP');
    wrapper.send('SIGCONT');
    await wrapper.event('continued');
    wrapper.send('SIGTERM');
    assert.is(await wrapper.status, 143);
  },
);

signals('a restart sends SIGTERM and starts again', async () => {
  const restartWhen = join(folder.path, 'running');
  const script = 'trap "exit 9" TERM; echo run; touch "$0"; while :; do sleep 0.05; done';
  const wrapper = startWrapper(['sh', '-c', script, restartWhen], { restartWhen });
  assert.is((await wrapper.event('restarting')).exitCode, 9);
  await waitFor('the second run', () => wrapper.output() === 'run\nrun\n');
  wrapper.send('SIGTERM');
  assert.is(await wrapper.status, 9);
});

signals('SIGHUP during a restart: it is not started again', async () => {
  const restartWhen = join(folder.path, 'deaf');
  const wrapper = startWrapper([...deafToTerm, restartWhen], { restartWhen });
  await wrapper.wrote('SIGTERM');
  wrapper.send('SIGHUP');
  assert.is(await wrapper.status, 129);
  assert.is(wrapper.output().split('ready').length, 2);
});

signals.run();
