import { spawnSync } from 'node:child_process';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { helpText } from '../../../src/plugins/wrapper/prepare.ts';
import { wrapperSettings } from '../../../src/plugins/wrapper/settings.ts';

const test = suite('start of the wrapper');
const MODULE = new URL('../../../src/plugins/wrapper/prepare.ts', import.meta.url).href;
const ENV = {
  VAULT_ADDR: 'https://vault.example:8200',
  VAULT_TOKEN: 'hvs.4711',
  SVC_SECRET_PATHS: 'secret/app',
};

/** Calls `prepare` in a process of its own, which writes what comes back to standard output. */
function prepare(argv: readonly string[], env: Record<string, string> = {}) {
  const program = `import { prepare } from ${JSON.stringify(MODULE)};
    const { status, config } = prepare(process.argv.slice(1), process.env);
    console.log(JSON.stringify({ status, config }));`;
  const args = ['--input-type=module-typescript', '-e', program, '--', ...argv];
  const { stdout, stderr } = spawnSync(process.execPath, args, { env: { ...ENV, ...env }, encoding: 'utf8' });
  const lines = stderr.split('\n').filter((line) => line !== '');
  return { ...JSON.parse(stdout.split('\n').at(-2) ?? '{}'), stdout, lines };
}

test('gives the configuration, and says nothing', () => {
  const { status, config, lines } = prepare(['--delivery=fd', '--', 'app', 'x']);
  assert.equal([status, config.file, config.args, config.settings.delivery], [undefined, 'app', ['x'], 'fd']);
  assert.equal(lines, []);
});

test('one line for all errors of the configuration', () => {
  const { status, lines } = prepare([], { VAULT_ADDR: 'vault', SVC_DELIVERY: 'mail' });
  assert.is(status, 78);
  assert.is(lines.length, 1);
  const { level, component, event, code, details, nextStep } = JSON.parse(lines[0] ?? '');
  assert.equal([level, component, event, code], ['error', 'wrapper', 'start.failed', 'CONFIG_INVALID']);
  assert.equal(
    details.map((one: string) => one.split(':')[0]),
    ['SVC_DELIVERY', 'VAULT_ADDR', 'SVC_ORIGINAL_CMD'],
  );
  assert.ok(nextStep);
});

test('usage errors, in the format that is asked for', () => {
  const { status, lines } = prepare(['--bogus', '--', 'app'], { SVC_LOG_FORMAT: 'text' });
  assert.is(status, 64);
  assert.match(
    lines.join('\n'),
    /error wrapper start\.failed .*code=USAGE[\s\S]*details: --bogus: unknown flag/,
  );
});

test('remarks are logged, at the level that is asked for', () => {
  const env = { SVC_ROTATION: 'sighup', SVC_DELIVERY: 'env' };
  const [line = ''] = prepare(['--', 'app'], env).lines;
  assert.equal([JSON.parse(line).event, JSON.parse(line).level], ['config.remark', 'warn']);
  assert.equal(prepare(['--log-level=error', '--', 'app'], env).lines, []);
});

test('help shows every flag and variable, and ends well', () => {
  const { status, stdout, lines } = prepare(['--help']);
  assert.is(status, 0);
  assert.equal(lines, []);
  assert.ok(stdout.startsWith(helpText()));
  for (const { variable } of Object.values(wrapperSettings)) assert.match(stdout, variable);
});

test('the version is that of the package', async () => {
  const { version } = (await import('../../../package.json', { with: { type: 'json' } })).default;
  assert.match(prepare(['--version']).stdout, `svc-wrapper ${version}\n`);
});

test('no line is wider than a wide terminal', () => {
  for (const line of helpText().split('\n')) assert.ok(line.length <= 120, line);
});

test('the token is in nothing that is said', () => {
  for (const argv of [['--', 'app'], ['--nonsense'], ['--help'], []]) {
    const { stdout, lines } = prepare(argv, { SVC_LOG_LEVEL: 'debug', SVC_ROTATION: 'x' });
    assert.not.match(stdout + lines.join(), '4711');
  }
});

test.run();
