import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { http } from '../../support/http.ts';
import { isRunning } from '../../support/is-running.ts';
import { waitFor } from '../../support/wait-for.ts';
import { type Bed, shown, startBed } from './support/bed.ts';

export const idle = true;

const rotation = suite('rotation of secrets');
let bed: Bed;

rotation.before(async () => {
  bed = await startBed();
});
rotation.after.each(() => bed?.endRuns());
rotation.after(() => bed?.stop());

const builtSdk = new URL('../../../dist/sdk/index.js', import.meta.url).href;
const everySecond = { RENEWAL_INTERVAL: '1s' };
let number = 0;

/** A path of its own for each test. */
async function secret(
  data: Record<string, string>,
): Promise<{ path: string; change(data: object): Promise<void> }> {
  const name = `rotating-${number++}`;
  const change = (next: object) => bed.kv.put(name, next as Record<string, string>);
  await change(data);
  return { path: `secret/${name}`, change };
}

rotation('restart ends the application and starts it with the new secrets', async () => {
  const { path, change } = await secret({ KEY: 'one' });
  const run = await bed.run({
    paths: [path],
    env: { ...everySecond, SVC_ROTATION: 'restart', SHOWN: 'KEY' },
  });
  const before = await shown(run);
  await change({ KEY: 'two', MORE: 'x' });
  const after = await shown(run, 2);
  assert.equal([before.env, after.env], [{ KEY: 'one' }, { KEY: 'two' }]);
  assert.equal([before.descriptor, after.descriptor], [{ KEY: 'one' }, { KEY: 'two', MORE: 'x' }]);
  assert.is.not(before.pid, after.pid);
  assert.not(isRunning(before.pid));
  assert.is(run.ended, false);
});

rotation('restart kills what ignores SIGTERM when the grace is over', async () => {
  const { path, change } = await secret({ KEY: 'one' });
  const command = ['/bin/sh', '-c', 'trap "" TERM; echo "RUN $KEY"; while :; do sleep 1; done'];
  const env = { ...everySecond, SVC_ROTATION: 'restart', SVC_STOP_GRACE: '500ms' };
  const run = await bed.run({ paths: [path], command, env });
  await run.says(/RUN one/);
  await change({ KEY: 'two' });
  await run.says(/RUN two/);
  assert.is(run.events('application.killed').length, 1);
});

rotation('/readyz is 503 between stop and relaunch, /healthz stays 200', async () => {
  const { path, change } = await secret({ KEY: 'one' });
  const command = [
    '/bin/sh',
    '-c',
    'trap "sleep 2; exit" TERM; echo "RUN $KEY"; while :; do sleep 0.1; done',
  ];
  const run = await bed.run({ paths: [path], command, env: { ...everySecond, SVC_ROTATION: 'restart' } });
  await run.says(/RUN one/);
  const health = await run.health();
  assert.is((await http(`${health}/readyz`)).status, 200);
  await change({ KEY: 'two' });
  await waitFor('the stop', async () => (await http(`${health}/readyz`)).status === 503);
  assert.is((await http(`${health}/healthz`)).status, 200);
  await run.says(/RUN two/);
  await waitFor('the relaunch', async () => (await http(`${health}/readyz`)).status === 200);
});

rotation('SIGTERM during a restart ends the wrapper, and nothing is started any more', async () => {
  const { path, change } = await secret({ KEY: 'one' });
  const command = [
    '/bin/sh',
    '-c',
    'trap "echo STOPPING; sleep 2; exit 3" TERM; echo "RUN $KEY"; while :; do sleep 0.1; done',
  ];
  const run = await bed.run({ paths: [path], command, env: { ...everySecond, SVC_ROTATION: 'restart' } });
  await run.says(/RUN one/);
  await change({ KEY: 'two' });
  await run.says(/STOPPING/);
  run.signal('SIGTERM');
  assert.is((await run.exited).code, 3);
  assert.not.ok(run.output().includes('RUN two'));
});

rotation('sighup renews the descriptor in place and then sends the signal', async () => {
  const { path, change } = await secret({ KEY: 'one' });
  const run = await bed.run({ paths: [path], env: { ...everySecond, SVC_ROTATION: 'sighup', SHOWN: 'KEY' } });
  const before = await shown(run);
  for (const [count, value] of ['two', 'three', 'four', 'five'].entries()) {
    await change({ KEY: value });
    const after = await shown(run, count + 2);
    assert.equal([after.why, after.descriptor, after.pid], ['SIGHUP', { KEY: value }, before.pid]);
    assert.equal(after.env, { KEY: 'one' }, 'the environment of a running process cannot change');
  }
});

rotation('sighup refuses what does not fit, says so once, and goes on with the next change', async () => {
  const { path, change } = await secret({ KEY: 'one' });
  const run = await bed.run({ paths: [path], env: { ...everySecond, SVC_ROTATION: 'sighup' } });
  await shown(run);
  await change({ KEY: 'x'.repeat(100_000) });
  await run.event('secrets.rotation.refused');
  const checks = /svc_wrapper_secret_checks_total\{result="changed"\} (\d+)/;
  const health = await run.health();
  await waitFor(
    'further looks',
    async () => Number(checks.exec((await http(`${health}/metrics`)).text)?.[1]) >= 3,
  );
  assert.is(run.events('secrets.rotation.refused').length, 1);
  const refused = await http(`${health}/healthz`);
  assert.equal([refused.status, refused.json.status], [200, 'degraded']);
  assert.match(refused.json.degraded.secrets, /do not fit into the descriptor/);
  assert.match((await http(`${health}/metrics`)).text, /^svc_wrapper_degraded 1$/m);
  await change({ KEY: 'fits' });
  assert.equal((await shown(run, 2)).descriptor, { KEY: 'fits' });
  await waitFor('the recovery', async () => (await http(`${health}/healthz`)).json.status === 'ok');
  assert.match((await http(`${health}/metrics`)).text, /^svc_wrapper_degraded 0$/m);
});

rotation('sighup has room for small secrets to grow by 64 KiB, and for large ones to double', async () => {
  const program = `import { open } from ${JSON.stringify(builtSdk)}; const store = open();
    const show = () => console.log('LENGTH', store.get('KEY').length);
    process.on('SIGHUP', show); setInterval(() => {}, 60_000); show();`;
  const command = [process.execPath, '--input-type=module', '-e', program];
  const grow = async (from: number, to: number) => {
    const { path, change } = await secret({ KEY: 'x'.repeat(from) });
    const env = { ...everySecond, SVC_ROTATION: 'sighup', SVC_DELIVERY: 'fd' };
    const run = await bed.run({ paths: [path], command, env });
    await run.says(new RegExp(`^LENGTH ${from}$`, 'm'));
    await change({ KEY: 'x'.repeat(to) });
    await run.says(new RegExp(`^LENGTH ${to}$`, 'm'));
  };
  await Promise.all([grow(10, 65_500), grow(100_000, 200_000)]);
});

rotation('secrets that went back to those in use are no refusal any more', async () => {
  const { path, change } = await secret({ KEY: 'one' });
  const run = await bed.run({ paths: [path], env: { ...everySecond, SVC_ROTATION: 'sighup' } });
  await shown(run);
  await change({ KEY: 'x'.repeat(100_000) });
  await run.event('secrets.rotation.refused');
  await change({ KEY: 'one' });
  const health = await run.health();
  await waitFor('the recovery', async () => (await http(`${health}/healthz`)).json.status === 'ok');
});

rotation('restart takes a larger descriptor where the secrets have grown', async () => {
  const { path, change } = await secret({ KEY: 'one' });
  const run = await bed.run({
    paths: [path],
    env: { ...everySecond, SVC_ROTATION: 'restart', SVC_DELIVERY: 'fd' },
  });
  await shown(run);
  await change({ KEY: 'x'.repeat(100_000) });
  assert.is((await shown(run, 2)).descriptor['KEY']?.length, 100_000);
});

rotation('none looks at nothing after the start', async () => {
  const { path, change } = await secret({ KEY: 'one' });
  const run = await bed.run({ paths: [path], env: { ...everySecond, SVC_ROTATION: 'none' } });
  await shown(run);
  await change({ KEY: 'two' });
  const health = await run.health();
  const renewals = /svc_wrapper_token_renewals_total\{result="renewed"\} (\d+)/;
  await waitFor(
    'renewals',
    async () => Number(renewals.exec((await http(`${health}/metrics`)).text)?.[1]) >= 3,
  );
  assert.not.match((await http(`${health}/metrics`)).text, /secret_checks_total\{/);
  assert.is(run.events('application.started').length, 1);
});

rotation('a new version with the same values restarts nothing', async () => {
  const { path, change } = await secret({ KEY: 'one' });
  const run = await bed.run({ paths: [path], env: { ...everySecond, SVC_ROTATION: 'restart' } });
  await shown(run);
  await change({ KEY: 'one' });
  const health = await run.health();
  const checks = /svc_wrapper_secret_checks_total\{result="unchanged"\} (\d+)/;
  await waitFor('looks', async () => Number(checks.exec((await http(`${health}/metrics`)).text)?.[1]) >= 3);
  assert.is(run.events('application.started').length, 1);
});

rotation('a change that cannot be delivered changes nothing and is told', async () => {
  const { path, change } = await secret({ KEY: 'one' });
  const run = await bed.run({
    paths: [path],
    env: { ...everySecond, SVC_ROTATION: 'restart', SVC_ENV_MAP: 'KEY=K' },
  });
  await shown(run);
  await change({ OTHER: 'two' });
  const failed = await run.event('secrets.keep.failed');
  assert.match(JSON.stringify(failed), 'KEY');
  const health = await run.health();
  const { status } = await waitFor('health to tell', async () => {
    const answer = await http(`${health}/healthz`);
    return answer.json.status === 'degraded' && answer;
  });
  assert.is(status, 200);
  assert.is(run.events('application.started').length, 1);
  assert.is(run.ended, false);
});

rotation('secrets that have grown too large for an environment leave the application alone', async () => {
  const { path, change } = await secret({ KEY: 'one' });
  const run = await bed.run({ paths: [path], env: { ...everySecond, SVC_ROTATION: 'restart' } });
  const before = await shown(run);
  await change({ KEY: 'x'.repeat(200_000) });
  const failed = await run.event('secrets.keep.failed');
  assert.is(failed['code'], 'SECRETS_TOO_LARGE');
  assert.match(failed['error'], `${path}, field "KEY"`);
  await change({ KEY: 'two' });
  assert.is.not((await shown(run, 2)).pid, before.pid);
});

rotation('looks at version 1 of KV by content', async () => {
  await bed.kv.putV1('rotating', { KEY: 'one' });
  const run = await bed.run({ paths: ['kv1/rotating'], env: { ...everySecond, SVC_ROTATION: 'sighup' } });
  assert.equal((await shown(run)).descriptor, { KEY: 'one' });
  await bed.kv.putV1('rotating', { KEY: 'two' });
  assert.equal((await shown(run, 2)).descriptor, { KEY: 'two' });
});

rotation.run();
