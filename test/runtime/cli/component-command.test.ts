import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const MAIN = fileURLToPath(new URL('./fixtures/greeter-main.ts', import.meta.url));
const command = suite('component command');

function run(args: string[], env: Record<string, string> = {}) {
  const { stdout, stderr, status } = spawnSync(process.execPath, [MAIN, ...args], {
    env: { PATH: process.env['PATH'], ...env },
    encoding: 'utf8',
    timeout: 30_000,
  });
  return { stdout: stdout.trim(), stderr, status };
}

command('hands the flags that were given to the component and ends with its status', () => {
  const { stdout, stderr, status } = run(['--greeting', 'hello', '--loud']);
  assert.is(stdout, 'HELLO, world', stderr);
  assert.is(status, 0);
});

command('lets a variable speak where there is no flag', () => {
  assert.is(run([], { SVC_GREETER_GREETING: 'salut' }).stdout, 'salut, world');
  assert.is(run(['--greeting', 'hi'], { SVC_GREETER_GREETING: 'salut' }).stdout, 'hi, world');
});

command('takes the default of a setting last', () => {
  assert.is(run([]).stdout, 'good day, world');
});

command('ends with 78 and every error where the configuration is wrong', () => {
  const { stderr, status } = run(['--greeting', '', '--log-level', 'shouting']);
  assert.is(status, 78, stderr);
  assert.match(stderr, /greeting[\s\S]*log-level|log-level[\s\S]*greeting/);
});

command('ends with 2 on an unknown flag', () => {
  const { stderr, status } = run(['--nonsense']);
  assert.is(status, 2);
  assert.match(stderr, /Nonexistent flag: --nonsense \(USAGE\)\nNext: /);
});

command('ends with the status of the error that stopped the component', () => {
  assert.is(run(['--greeting', 'unavailable']).status, 69);
});

command.run();
