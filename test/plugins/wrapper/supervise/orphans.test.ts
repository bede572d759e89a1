import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { cleanEnv } from '../../../support/clean-env.ts';
import { alive, processesWith } from './support/process-status.ts';
import { deafToTerm } from './support/programs.ts';
import { runWrapper, startWrapper } from './support/wrapper-process.ts';

const orphans = suite('orphans below the wrapper');

/** Five daemons of that length, then the exit status. */
const fiveDaemons = (seconds: number | string, then = 'exit 6') =>
  `for i in 1 2 3 4 5; do (setsid sleep ${seconds} &); done; ${then}`;

orphans('five are reaped while the application runs on, and its exit status stays its own', async () => {
  const { status, events } = await runWrapper(['sh', '-c', fiveDaemons(0.1, 'sleep 0.6; exit 6')]);
  const reaped = events.filter((event) => event.kind === 'reaped');
  assert.is(status, 6);
  assert.equal(
    reaped.map(({ exitCode }) => exitCode),
    [0, 0, 0, 0, 0],
  );
});

orphans('no zombie is left behind meanwhile', async () => {
  const script = fiveDaemons(0.1, 'sleep 0.6; echo $$ is left; cat /proc/$PPID/task/*/children');
  const [own, children] = (await runWrapper(['sh', '-c', script])).output.split(' is left\n');
  assert.is(children?.trim(), own);
});

orphans('60 exit statuses are right with orphans that end at the same moment', () => {
  const program = fileURLToPath(new URL('fixtures/many-runs.ts', import.meta.url));
  const { stdout, stderr } = spawnSync(process.execPath, [program], { encoding: 'utf8', env: cleanEnv() });
  assert.ok(stdout, stderr);
  const { statuses, reaped } = JSON.parse(stdout) as { statuses: number[]; reaped: number };
  assert.equal(
    statuses,
    Array.from({ length: 60 }, (_, run) => run),
  );
  assert.is(reaped, 300);
});

orphans('daemons do not outlive the wrapper', async () => {
  const { status, events } = await runWrapper(['sh', '-c', fiveDaemons('3600.25')]);
  assert.is(status, 6);
  assert.equal(
    events.flatMap((event) => (event.kind === 'reaped' ? [event.exitCode] : [])),
    [143, 143, 143, 143, 143],
  );
  assert.equal(processesWith('3600.25'), []);
});

orphans('a daemon that ignores SIGTERM is killed after the grace, and so are its children', async () => {
  const script = '(setsid sh -c "sleep 3600.5 & exec \\"\\$0\\" \\"\\$@\\"" "$@" &); sleep 0.5; exit 6';
  const { status, events, output } = await runWrapper(['sh', '-c', script, 'sh', ...deafToTerm], {
    endGraceMs: 300,
  });
  assert.is(status, 6);
  assert.ok(events.some((event) => event.kind === 'reaped' && event.exitCode === 137));
  assert.match(output, 'SIGTERM');
  assert.equal(processesWith('3600.5'), []);
});

orphans('a stopped daemon is continued, so that it can end by itself', async () => {
  const daemon = `trap 'echo ended; exit' TERM; echo stops; kill -STOP $$; sleep 60 & wait`;
  const { output } = await runWrapper(
    ['env', `SCRIPT=${daemon}`, 'sh', '-c', '(setsid sh -c "$SCRIPT" &); sleep 0.4'],
    { endGraceMs: 10_000 },
  );
  assert.match(output, 'ended');
});

orphans('of a killed application end as well, without a restart getting in their way', async () => {
  const script = 'echo run; (setsid sleep 3600.75 &); while :; do sleep 0.05; done';
  const wrapper = startWrapper(['sh', '-c', script], { restartAfterMs: 400 });
  await wrapper.event('reaped');
  await wrapper.wrote('run\nrun\n');
  wrapper.send('SIGTERM');
  assert.is(await wrapper.status, 143);
  assert.equal(processesWith('3600.75'), []);
  assert.not(alive((await wrapper.event('started')).pid));
});

orphans.run();
