import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { http } from '../../support/http.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { waitFor } from '../../support/wait-for.ts';
import { type Program, run, startProgram } from './spawn-program.ts';

export const slow = true;

const running = suite('running a component');
const folder = temporaryFolder('run-component');

running.after(() => folder.remove());

running('one line at the start, health while running, status 0 after a drain', async () => {
  const program = await startProgram('clean-drain');
  const { version, ...facts } = await program.event('listening');
  assert.match(version, /^\d+\.\d+\.\d+/);
  assert.is(facts.address, '127.0.0.1:1');
  const url = `http://${facts.health}`;
  assert.equal((await http(`${url}/healthz`)).json, { status: 'ok' });
  await waitFor('ready', async () => (await http(`${url}/readyz`)).status === 200);
  assert.match((await http(`${url}/metrics`)).text, /^demo_total 1$/m);
  program.kill('SIGTERM');
  assert.is(await program.status, 0);
  assert.equal(events(program), ['listening', 'shutdown.begin', 'draining', 'stopped']);
  assert.is((await program.event('draining')).ready, false);
});

running('SIGINT does the same, SIGHUP nothing', async () => {
  const program = await startProgram('clean-drain');
  await program.event('listening');
  program.kill('SIGHUP');
  program.kill('SIGINT');
  assert.is(await program.status, 0);
  assert.is((await program.event('shutdown.begin')).signal, 'SIGINT');
});

running('a drain over its bound ends with 1', async () => {
  const program = await startProgram('drain-over-bound', { SVC_SHUTDOWN_GRACE: '50ms' });
  await program.event('listening');
  program.kill('SIGTERM');
  assert.is(await program.status, 1);
  assert.equal(events(program), ['listening', 'shutdown.begin', 'shutdown.overdue']);
});

running('a second signal ends at once', async () => {
  const program = await startProgram('drain-over-bound', { SVC_SHUTDOWN_GRACE: '1h' });
  await program.event('listening');
  program.kill('SIGTERM');
  await program.event('shutdown.begin');
  program.kill('SIGINT');
  assert.is(await program.status, 130);
  assert.is(events(program).at(-1), 'shutdown.forced');
});

running('a signal during the start ends it with 0', async () => {
  const program = await startProgram('waits-at-start');
  await program.event('waiting');
  program.kill('SIGTERM');
  assert.is(await program.status, 0);
  assert.equal(events(program), ['waiting', 'shutdown.begin', 'stopped']);
});

running('a crash at the start ends with 70 and shows no secret', async () => {
  const program = await run('crash-at-start', { DEMO_PASSWORD: 'pa55word-4711' });
  assert.is(await program.status, 70);
  const { error, stack } = await program.event('start.failed');
  assert.is(error, 'cannot log in with [redacted]');
  assert.match(stack[0], /crash-at-start/);
  assert.not.match(program.output(), '4711');
});

running('a refusal ends with its own status and says what to do', async () => {
  const program = await run('refused-at-start');
  assert.is(await program.status, 77);
  const { code, causes, nextStep, stack } = await program.event('start.failed');
  assert.equal(
    [code, causes, nextStep, stack],
    ['VAULT_DENIED', ['403'], 'Check VAULT_AUTH_ROLE.', undefined],
  );
});

running('breakage while running ends with 70', async () => {
  const program = await run('breaks-while-running');
  assert.is(await program.status, 70);
  assert.is((await program.event('run.failed')).error, 'the listener broke');
});

running('what nobody handles ends with 70, logged without secrets', async () => {
  const thrown = await run('uncaught-exception', { DEMO_PASSWORD: 'pa55word-4711' });
  assert.is(await thrown.status, 70);
  assert.is((await thrown.event('crashed')).error, 'nobody handles [redacted]');
  const rejected = await run('unhandled-rejection');
  assert.is(await rejected.status, 70);
  const { error, origin } = await rejected.event('crashed');
  assert.equal([error, origin], ['nobody awaits', 'unhandledRejection']);
});

running('a component that has done its work ends with 0', async () => {
  assert.is(await (await run('ends-by-itself')).status, 0);
});

running('a taken health port is a matter of configuration', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as { port: number };
  const program = await run('clean-drain', { DEMO_HEALTH: `127.0.0.1:${port}` });
  other.close();
  assert.is(await program.status, 78);
  assert.is((await program.event('start.failed')).code, 'HEALTH_ADDRESS');
});

running('an empty health address turns the server off', async () => {
  const program = await startProgram('clean-drain', { DEMO_HEALTH: '' });
  assert.is((await program.event('listening')).health, undefined);
  program.kill('SIGTERM');
  assert.is(await program.status, 0);
});

running('names all errors at once, common settings and cross checks included', async () => {
  const wrong = { DEMO_SIZE: '9', DEMO_HEALTH: 'x', SVC_LOG_LEVEL: 'loud', SVC_SHUTDOWN_GRACE: '5' };
  const program = await run('cross-checks', wrong);
  assert.is(await program.status, 78);
  const { code, details } = await program.event('start.failed');
  assert.is(code, 'CONFIG_INVALID');
  const variables = details.map((line: string) => line.split(':')[0]);
  assert.equal(variables, ['DEMO_HEALTH', 'SVC_LOG_LEVEL', 'SVC_SHUTDOWN_GRACE', 'DEMO_SIZE']);
});

running('reads the file that SVC_CONFIG names', async () => {
  const file = join(folder.path, 'svc.yaml');
  writeFileSync(file, 'demo:\n  size: 12\n  log-format: text\n  shutdown-grace: soon\n');
  const program = await run('clean-drain', { SVC_CONFIG: file, SVC_LOG_FORMAT: 'json' });
  assert.is(await program.status, 78);
  const { details } = await program.event('start.failed');
  assert.match(details[0], `${file}, demo.size (DEMO_SIZE): should be a whole number from 1 to 10, is "12"`);
  assert.match(details[1], 'demo.shutdown-grace (SVC_SHUTDOWN_GRACE)');
  const absent = await run('clean-drain', { SVC_CONFIG: `${file}.absent` });
  assert.is(await absent.status, 78);
});

running('takes flags before variables', async () => {
  const program = await run('clean-drain', { DEMO_SIZE: '5' }, ['--size', '11']);
  assert.is(await program.status, 78);
  assert.match((await program.event('start.failed')).details[0], '--size (DEMO_SIZE)');
});

running('goes on when nobody reads its output any more', async () => {
  const program = await startProgram('chatty');
  const { health } = await program.event('listening');
  program.closeOutput();
  for (let count = 0; count < 20; count++) assert.is((await http(`http://${health}/readyz`)).status, 200);
  program.kill('SIGTERM');
  assert.is(await program.status, 0);
});

running('shows the metrics that a component gathers itself', async () => {
  const program = await startProgram('gathers-metrics');
  const { health } = await program.event('listening');
  assert.is((await http(`http://${health}/metrics`)).text, 'gathered_total 3\n');
  program.kill('SIGTERM');
  assert.is(await program.status, 0);
});

running('writes text where that is asked for', async () => {
  const program = await run('refused-at-start', { SVC_LOG_FORMAT: 'text' });
  assert.is(await program.status, 77);
  assert.match(program.output(), /error demo start\.failed error="The secrets server refused the login"/);
});

function events(program: Program): string[] {
  return program.lines().map(({ event }) => event);
}

running.run();
