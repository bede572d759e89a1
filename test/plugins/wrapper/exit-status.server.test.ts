import { createServer } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { LogLine } from '../../support/log-lines.ts';
import { listen } from '../../support/loopback.ts';
import { freePort } from '../../support/ports.ts';
import type { WrapperOptions } from '../../support/svc-wrapper.ts';
import { type Bed, startBed } from './support/bed.ts';

const statuses = suite('exit statuses of the wrapper');
let bed: Bed;

statuses.before(async () => {
  bed = await startBed();
  await bed.kv.put('app', { PASSWORD: 'correct horse' });
  await bed.kv.put('other', { PASSWORD: 'battery staple' });
  await bed.kv.put('nul', { BROKEN: 'a\u0000b' });
  await bed.kv.put('name', { 'A=B': 'x' });
});
statuses.after(() => bed?.stop());

/** The exit status and the line that says why. */
async function refusal(options: Partial<WrapperOptions>) {
  const run = await bed.run({ command: ['/bin/true'], ...options });
  const { code } = await run.exited;
  const line = run.events('start.failed')[0] ?? { event: 'none', level: 'none' };
  const { error = '', details = [], nextStep } = line as LogLine;
  for (const value of ['correct horse', 'battery staple', 'a\u0000b'])
    assert.not.ok(run.output().includes(value));
  return { code, reason: [error, ...details].join('\n'), nextStep };
}

statuses('are those of the application, 128 and more for a signal', async () => {
  for (const [script, status] of [
    ['exit 0', 0],
    ['exit 7', 7],
    ['exit 255', 255],
    ['kill -TERM $$', 143],
    ['kill -KILL $$', 137],
    ['kill -SEGV $$', 139],
  ] as const) {
    const run = await bed.run({ command: ['/bin/sh', '-c', script] });
    assert.is((await run.exited).code, status, script);
  }
});

statuses('127 where there is no such command, 126 where it cannot be run', async () => {
  assert.is((await refusal({ command: ['no-such-command'] })).code, 127);
  assert.is((await refusal({ command: ['/etc/passwd'] })).code, 126);
  const exec = { SVC_EXEC: 'true' };
  assert.is((await refusal({ command: ['no-such-command'], env: exec })).code, 127);
});

statuses('78 with every error of the configuration at once', async () => {
  const env = {
    VAULT_ADDR: 'ftp://x',
    RENEWAL_INTERVAL: '5',
    SVC_ROTATION: 'sometimes',
    SVC_REQUIRE_MLOCK: 'yes',
    SVC_SECRET_PATHS: undefined,
    VAULT_AUTH_METHOD: 'kubernetes',
  };
  const { code, reason } = await refusal({ env });
  assert.is(code, 78);
  for (const name of [...Object.keys(env).slice(0, 5), 'VAULT_AUTH_ROLE']) assert.match(reason, `${name}`);
});

statuses('78 for token auth without a token, and for a token that is empty', async () => {
  for (const token of [undefined, '']) {
    const { code, reason } = await refusal({ env: { VAULT_TOKEN: token, VAULT_AUTH_METHOD: 'token' } });
    assert.is(code, 78);
    assert.match(reason, /VAULT_TOKEN or VAULT_TOKEN_FILE: required/);
  }
});

statuses('78 for a path or a mapped field that is not there, named', async () => {
  const paths = ['secret/app', 'secret/absent', 'kv1/gone'];
  const absent = await refusal({ paths });
  assert.is(absent.code, 78);
  assert.match(absent.reason, /absent.*kv1\/gone/s);
  const field = await refusal({ env: { SVC_ENV_MAP: 'USER=DB_USER' } });
  assert.is(field.code, 78);
  assert.match(field.reason, 'secret/app, field "USER"');
});

statuses('78 for two paths with one name, a value with NUL, a name that no variable can have', async () => {
  const twice = await refusal({ paths: ['secret/app', 'secret/other'] });
  assert.is(twice.code, 78);
  assert.match(twice.reason, 'secret/app, field "PASSWORD" and secret/other, field "PASSWORD"');
  const bad = await refusal({ paths: ['secret/nul', 'secret/name'] });
  assert.match(bad.reason, /secret\/nul, field "BROKEN": has a value with a NUL.*secret\/name, field "A=B"/s);
});

statuses(
  '77 at once for a path that the policy does not grant, for a wrong token, for an unknown role',
  async () => {
    const { code, reason } = await refusal({ paths: ['secret/app', 'cubbyhole/x'] });
    assert.equal([code, reason.includes('cubbyhole/x')], [77, true]);
    const server = { addr: bed.bao.url, caFile: bed.bao.caFile };
    assert.is((await refusal({ vault: { ...server, token: 's.unknown' } })).code, 77);
    const role = { ...bed.kubernetes, role: 'nobody' };
    assert.is((await refusal({ vault: { ...server, kubernetes: role } })).code, 77);
  },
);

statuses('69 where the secrets server cannot be reached in time', async () => {
  const addr = `http://127.0.0.1:${await freePort()}`;
  const env = { SVC_STARTUP_TIMEOUT: '1s' };
  const { code, nextStep } = await refusal({ vault: { addr, token: 's.x' }, env });
  assert.is(code, 69);
  assert.match(nextStep, 'VAULT_ADDR');
});

statuses('78 for a certificate of another authority: it is never passed over', async () => {
  const vault = { ...(await bed.withToken()), caFile: undefined };
  const { code, reason } = await refusal({ vault, env: { SVC_STARTUP_TIMEOUT: '1s' } });
  assert.equal([code, /VERIFY|CERT/i.test(reason)], [78, true], reason);
  const skipping = await bed.run({ vault, command: ['/bin/true'], env: { VAULT_SKIP_VERIFY: 'true' } });
  assert.is((await skipping.exited).code, 0);
  assert.match((await skipping.event('config.remark'))['remark'], 'VAULT_SKIP_VERIFY');
});

statuses('78 for a health port that is taken', async () => {
  const { address, stop } = await listen(createServer());
  const { code, reason } = await refusal({ env: { HEALTH_ADDR: address } });
  assert.is(code, 78);
  assert.match(reason, /is taken/);
  await stop();
});

statuses('64 for a command line that it does not understand', async () => {
  const run = await bed.run({ args: ['--secret=x'], command: ['/bin/true'] });
  assert.is((await run.exited).code, 64);
  assert.match(run.output(), '--secrets');
});

statuses('128 and the signal, where one comes before the application is started', async () => {
  const addr = `http://127.0.0.1:${await freePort()}`;
  for (const [signal, status] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const) {
    const run = await bed.run({ vault: { addr, token: 's.x' }, command: ['/bin/true'] });
    await run.event('secrets.waiting');
    run.signal(signal);
    assert.is((await run.exited).code, status);
  }
});

statuses.run();
