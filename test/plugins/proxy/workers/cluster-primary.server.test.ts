import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Child, launch } from '../../../support/child.ts';
import { cleanEnv } from '../../../support/clean-env.ts';
import { waitFor } from '../../../support/wait-for.ts';

const test = suite('a primary without servers behind it');
const entry = new URL('../../../../bin/run.js', import.meta.url).pathname;
const nowhere = 'http://127.0.0.1:1';

/** Two workers; resolves when the primary says that they listen. */
async function startPrimary(...more: string[]): Promise<Child> {
  const env = cleanEnv({
    ...{ VAULT_ADDR: nowhere, VAULT_TOKEN: 's.not-a-real-token' },
    ...{ AWS_ACCESS_KEY_ID: 'AKIATEST', AWS_SECRET_ACCESS_KEY: 'secret-of-the-test' },
  });
  const args = ['--listen', '127.0.0.1:0', '--upstream', nowhere, '--log-format', 'json', '--workers', '2'];
  const child = await launch(process.execPath, [entry, 'run', 'proxy', ...args, ...more], { env });
  const up = () => child.logs().includes('"workers":"2"') || child.ended;
  await waitFor('the workers', up, { details: child.logs });
  return child;
}

const workersOf = ({ pid }: Child): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);

test('takes an address for health and metrics by a flag', async () => {
  for (const health of [['--health', '127.0.0.1:0'], ['--health=127.0.0.1:0']]) {
    const child = await startPrimary(...health);
    const { code } = await child.end('SIGTERM');
    assert.is(code, 0, child.logs());
  }
});

test('replaces its workers also when all have died at once and no health server keeps the primary', async () => {
  const child = await startPrimary('--health', '');
  const first = workersOf(child);
  for (const pid of first) process.kill(pid, 'SIGKILL');
  await waitFor(
    'other workers',
    () => child.ended || workersOf(child).filter((pid) => !first.includes(pid)).length === 2,
  );
  assert.not.ok(child.ended, child.logs());
  const { code } = await child.end('SIGTERM');
  assert.is(code, 0, 'workers that are still starting are told to end, too');
});

test.run();
