import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { launch } from './child.ts';
import { cleanEnv } from './clean-env.ts';
import { isRunning } from './is-running.ts';
import { waitFor } from './wait-for.ts';

const test = suite('child processes');
const parent = fileURLToPath(new URL('./fixtures/parent.ts', import.meta.url));

test('output and exit status are kept', async () => {
  const child = await launch('sh', ['-c', 'echo out; echo err >&2; exit 3'], { env: cleanEnv() });
  assert.equal(await child.exited, { code: 3, signal: null });
  assert.is(child.ended, true);
  assert.equal(child.logs().trim().split('\n').sort(), ['err', 'out']);
});

test('a missing command is an error', async () => {
  const child = launch('/nonexistent/command', [], { env: cleanEnv() });
  const outcome = await child.then(
    ({ exited }) => exited,
    (error) => error.code,
  );
  assert.ok(outcome === 'ENOENT' || outcome.code !== 0, String(outcome));
});

test('waiting ends with the process, also where what is looked at is not there', async () => {
  const child = await launch('sh', ['-c', 'echo last words; exit 1'], { env: cleanEnv() });
  const outcome = await child
    .until('the file', () => readFileSync('/nonexistent/file', 'utf8'))
    .catch(({ message }: Error) => message);
  assert.match(outcome, /^the file: the process ended before that\nlast words/);
});

for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
  test(`a test process ended by ${signal} takes its children with it`, async () => {
    const process = spawn(globalThis.process.execPath, [parent], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = await once(process.stdout.setEncoding('utf8'), 'data');
    const { pid, folder } = JSON.parse(line);
    assert.ok(isRunning(pid));
    process.kill(signal);
    assert.equal(await once(process, 'exit'), [null, signal]);
    await waitFor('the end of the child', () => !isRunning(pid));
    if (signal === 'SIGTERM') assert.not(existsSync(folder));
  });
}

test('the environment is cleaned of what steers clients', () => {
  process.env.VAULT_TOKEN = 'x';
  process.env.https_proxy = 'x';
  const env = cleanEnv({ VAULT_ADDR: 'kept', PATH: undefined });
  assert.is(env.VAULT_TOKEN, undefined);
  assert.is(env.https_proxy, undefined);
  assert.is(env.VAULT_ADDR, 'kept');
  assert.not('PATH' in env);
});

test.run();
