import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readConfig } from '../../../src/plugins/wrapper/read-config.ts';
import type { SvcError } from '../../../src/runtime/errors.ts';

const test = suite('settings of the wrapper');

type Env = Record<string, string | undefined>;
const least = {
  VAULT_ADDR: 'https://vault.example:8200',
  VAULT_TOKEN: 'hvs.1',
  SVC_SECRET_PATHS: 'secret/app',
};

const read = (env: Env = {}, command: readonly string[] | undefined = ['app'], flags = {}) =>
  readConfig({ flags, env: { ...least, ...env }, command });

function errors(env: Env, command?: readonly string[]): string {
  try {
    read(env, command);
    return '';
  } catch (error) {
    assert.is((error as SvcError).exitStatus, 78);
    return (error as SvcError).details.join('\n');
  }
}

test('little is needed, and the defaults are the documented ones', () => {
  const { settings, file, args, remarks } = read();
  assert.equal([file, args, remarks], ['app', [], []]);
  assert.equal(settings.secretPaths, ['secret/app']);
  assert.equal(settings.healthAddr, { host: undefined, port: 8081 });
  assert.is(settings.vaultAuthMountPath, 'auth/kubernetes');
  assert.is(settings.rotation, 'none');
  assert.is(settings.delivery, 'both');
  assert.is(settings.coreLimit, 1);
  assert.equal([settings.renewalInterval, settings.startupTimeout, settings.stopGrace], [300e3, 60e3, 10e3]);
  const { requireMlock, requireMemfdSecret, requireAgent, requireEnforcement } = settings;
  assert.equal(
    [requireMlock, requireMemfdSecret, requireAgent, requireEnforcement],
    [true, false, true, false],
  );
  assert.equal([settings.exec, settings.signalGroup, settings.envMapOnly], [false, false, false]);
});

test('the command stands in variables, or after -- where nothing is escaped and which wins', () => {
  const variables = { SVC_ORIGINAL_CMD: '/bin/app', SVC_ORIGINAL_ARGS: '-c,a\\,b' };
  const given = readConfig({ flags: {}, env: { ...least, ...variables }, command: undefined });
  assert.equal([given.file, given.args], ['/bin/app', ['-c', 'a,b']]);
  for (const args of [[], [''], ['', ''], ['a\\,b', ','], ['--', '--help']]) {
    const { file, args: got } = read(variables, ['sh', ...args]);
    assert.equal([file, got], ['sh', args]);
  }
});

test('an empty SVC_ORIGINAL_ARGS is one empty argument, an unset one is none', () => {
  const only = (env: Env) => readConfig({ flags: {}, env: { ...least, ...env }, command: undefined }).args;
  assert.equal(only({ SVC_ORIGINAL_CMD: 'a', SVC_ORIGINAL_ARGS: '' }), ['']);
  assert.equal(only({ SVC_ORIGINAL_CMD: 'a' }), []);
});

test('names every error at once, with its variable and what it should be', () => {
  const env = {
    VAULT_ADDR: 'http://vault.example',
    VAULT_TOKEN: undefined,
    VAULT_AUTH_METHOD: 'kubernetes',
    SVC_SA_TOKEN_PATH: '/nowhere/token',
    SVC_SECRET_PATHS: undefined,
    SVC_ENV_MAP: 'a=A,b',
    SVC_ROTATION: 'often',
    RENEWAL_INTERVAL: '5',
    HEALTH_ADDR: '8081',
    SVC_REQUIRE_MLOCK: 'yes',
    SVC_EBPF_AGENT_ADDR: 'tcp://a:1',
  };
  const found = errors(env, []).split('\n');
  const expected = [
    /^SVC_SECRET_PATHS \(--secrets\): required, should be a list.* KV path/,
    /^SVC_ENV_MAP: should be groups .* \("b" in group 1 is not of the form/,
    /^SVC_ROTATION: should be one of restart, sighup, none, is "often"/,
    /^RENEWAL_INTERVAL: should be a duration such as 30s/,
    /^HEALTH_ADDR: should be \[host\]:port/,
    /^SVC_REQUIRE_MLOCK: should be true or false/,
    /^SVC_EBPF_AGENT_ADDR: should be a gRPC address such as unix:/,
    /^SVC_ORIGINAL_CMD: required/,
    /^VAULT_ADDR: must be https/,
    /^VAULT_AUTH_ROLE: required/,
    /^SVC_SA_TOKEN_PATH: \/nowhere\/token cannot be read/,
  ];
  assert.is(found.length, expected.length, found.join('\n'));
  for (const [at, pattern] of expected.entries()) assert.match(found[at] ?? '', pattern);
});

test('token auth without a token, and kubernetes auth without a role', () => {
  assert.match(
    errors({ VAULT_TOKEN: '', VAULT_AUTH_METHOD: 'token' }),
    /^VAULT_TOKEN or VAULT_TOKEN_FILE: required/,
  );
  const role = { VAULT_TOKEN: undefined, SVC_SA_TOKEN_PATH: '/dev/null' };
  assert.match(errors(role), /^VAULT_AUTH_ROLE: required/);
  assert.is(errors({ ...role, VAULT_AUTH_ROLE: 'app' }), '');
});

test('the token is known to be there, and nothing more', () => {
  assert.is(read({ VAULT_TOKEN: 'hvs.4711' }).settings.vaultToken, '*');
  assert.is(read({ VAULT_TOKEN: '', VAULT_TOKEN_FILE: '/dev/null' }).settings.vaultToken, undefined);
});

test('paths lose slashes at their ends and come once', () => {
  assert.equal(read({ SVC_SECRET_PATHS: '/secret/app/, kv/data/a b' }).settings.secretPaths, [
    'secret/app',
    'kv/data/a b',
  ]);
  for (const paths of ['secret', 'secret/app,', 'a//b', 'a/../b', 'a/./b', 'a/b?c', 'a/b\nc', '/'])
    assert.match(errors({ SVC_SECRET_PATHS: paths }), /^SVC_SECRET_PATHS: should be/, paths);
  assert.match(errors({ SVC_SECRET_PATHS: 'a/b,c/d,/a/b' }), /a\/b is repeated/);
});

test('more groups than paths, and a map that leaves nothing', () => {
  assert.match(errors({ SVC_ENV_MAP: 'a=A;b=B' }), /^SVC_ENV_MAP: has 2 groups/);
  assert.is(errors({ SVC_ENV_MAP: 'a=A;' }), '');
  assert.match(errors({ SVC_ENV_MAP_ONLY: 'true' }), /^SVC_ENV_MAP: required/);
  assert.match(errors({ SVC_ENV_MAP_ONLY: 'true', SVC_ENV_MAP: ';' }), /^SVC_ENV_MAP: required/);
});

test('the wrapper becomes the application only where nothing is to rotate', () => {
  for (const rotation of ['restart', 'sighup'])
    assert.match(errors({ SVC_EXEC: 'true', SVC_ROTATION: rotation }), /^SVC_ROTATION: must be none/);
  assert.is(errors({ SVC_EXEC: 'true' }), '');
});

test('the health endpoint can be turned off or take a free port', () => {
  assert.is(read({ HEALTH_ADDR: '' }).settings.healthAddr, undefined);
  assert.equal(read({ HEALTH_ADDR: '127.0.0.1:0' }).settings.healthAddr, { host: '127.0.0.1', port: 0 });
});

test('the agent is a Unix socket, and enforcement needs one', () => {
  for (const address of ['unix:///run/a.sock', 'unix:/run/a.sock'])
    assert.is(read({ SVC_EBPF_AGENT_ADDR: address }).settings.agentAddr, '/run/a.sock');
  assert.is(read({ SVC_EBPF_AGENT_ADDR: 'unix-abstract:svc' }).settings.agentAddr, '\0svc');
  for (const address of ['unix://run/a.sock', 'unix:a.sock', '/run/a.sock', `unix:///${'a'.repeat(107)}`])
    assert.match(errors({ SVC_EBPF_AGENT_ADDR: address }), /^SVC_EBPF_AGENT_ADDR: should be/, address);
});

test('the core limit is a size or left as it is', () => {
  const limit = (text: string) => read({ SVC_CORE_LIMIT: text }).settings.coreLimit;
  assert.equal([limit('inherit'), limit('0'), limit('64MiB')], ['inherit', 0, 64 * 1024 ** 2]);
  assert.match(errors({ SVC_CORE_LIMIT: 'unlimited' }), /^SVC_CORE_LIMIT: should be inherit, or a size/);
});

test('remarks on what is allowed but hardly meant', () => {
  const remarks = (env: Env) => read(env).remarks.join('\n');
  assert.match(
    remarks({ SVC_ROTATION: 'sighup', SVC_DELIVERY: 'env' }),
    /^SVC_ROTATION: sighup cannot change/,
  );
  assert.is(remarks({ SVC_ROTATION: 'sighup' }), '');
  assert.match(remarks({ VAULT_SKIP_VERIFY: 'true' }), /^VAULT_SKIP_VERIFY: /);
});

test('a flag goes before its variable', () => {
  const { settings } = read({ SVC_DELIVERY: 'env' }, ['app'], {
    secrets: 'kv/other',
    delivery: 'fd',
    exec: true,
  });
  assert.equal(settings.secretPaths, ['kv/other']);
  assert.equal([settings.delivery, settings.exec], ['fd', true]);
});

test.run();
