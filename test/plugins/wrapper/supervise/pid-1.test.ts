import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type TemporaryFolder, temporaryFolder } from '../../../support/temporary.ts';
import { ToolUnavailable } from '../../../support/tool-unavailable.ts';
import { deafToTerm } from './support/programs.ts';
import { runWrapper } from './support/wrapper-process.ts';

const namespace = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'];
const foreignProc = ['unshare', '--pid', '--fork', '--kill-child'];
const probe = spawnSync(namespace[0] as string, [...namespace.slice(1), 'true'], { encoding: 'utf8' });
if (probe.status !== 0) throw new ToolUnavailable('unshare', probe.stderr || String(probe.error));

const five = 'for i in 1 2 3 4 5; do (setsid sleep 0.1 &); done;';
const untilReady = 'until [ -e "$READY" ]; do sleep 0.02; done';
const pid1 = suite('the wrapper as PID 1');
let folder: TemporaryFolder;

pid1.before(() => {
  folder = temporaryFolder('pid-1');
});
pid1.after(() => folder.remove());

pid1('reaps five orphans; the exit status stays the application’s', async () => {
  const alone = 'until [ "$(cat /proc/1/task/*/children)" = "$$ " ]; do sleep 0.02; done';
  const script = `${five} ${alone}; echo "wrapper $PPID"; exit 8`;
  const { status, output, events } = await runWrapper(['sh', '-c', script], {}, namespace);
  assert.is(status, 8);
  assert.is(output, 'wrapper 1\n');
  assert.is(events.filter(({ kind }) => kind === 'reaped').length, 5);
});

pid1('passes 128 + n on for a signal', async () => {
  assert.is((await runWrapper(['sh', '-c', 'kill -15 $$'], {}, namespace)).status, 143);
});

pid1('lets daemons end by SIGTERM before the kernel kills them', async () => {
  const daemon = `trap 'echo ended; exit' TERM; touch "$READY"; sleep 60 & wait`;
  const script = `(setsid sh -c "$DAEMON" &); ${untilReady}`;
  for (const [name, prefix] of Object.entries({ namespace, foreignProc })) {
    const variables = [`DAEMON=${daemon}`, `READY=${join(folder.path, name)}`];
    const command = ['env', ...variables, 'sh', '-c', script];
    const { output } = await runWrapper(command, { endGraceMs: 10_000 }, prefix);
    assert.is(output, 'ended\n');
  }
});

pid1('forwards what is sent to it', async () => {
  const script =
    'trap "echo USR1" USR1; trap "exit 9" TERM; kill -USR1 1; kill -TERM 1; while :; do sleep 0.05; done';
  const { status, output } = await runWrapper(['sh', '-c', script], {}, namespace);
  assert.is(status, 9);
  assert.is(output, 'USR1\n');
});

pid1('kills an application that ignores SIGTERM', async () => {
  const script = `(${untilReady}; kill -TERM 1) & exec "$0" "$@" "$READY"`;
  const command = ['env', `READY=${join(folder.path, 'deaf')}`, 'sh', '-c', script, ...deafToTerm];
  const { status } = await runWrapper(command, { stopGraceMs: 300 }, namespace);
  assert.is(status, 137);
});

pid1.run();
