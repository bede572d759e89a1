import { spawn } from 'node:child_process';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { bundledProgram } from '../../../support/bundled-program.ts';
import { cleanEnv } from '../../../support/clean-env.ts';
import { reapProcess } from '../../../support/reaper.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { countInMemory } from './support/process-copies.ts';
import { secretByte, secretLength } from './support/secret.ts';

const program = bundledProgram(new URL('fixtures/keeps-secret.ts', import.meta.url));
const secret = Buffer.from(Array.from({ length: secretLength }, (_, index) => secretByte(index)));

/** How often a process that has started a program with a secret still holds it, and what the program got. */
async function copiesLeft(...args: string[]): Promise<{ copies: number; delivered: string }> {
  const child = spawn(process.execPath, [program, ...args], {
    env: cleanEnv(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const pid = child.pid as number;
  child.once('exit', reapProcess(pid));
  let delivered = '';
  let errors = '';
  child.stdout.setEncoding('latin1').on('data', (text: string) => (delivered += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  await waitFor('the end of the program', () => errors.includes('ended 0'), { details: () => errors });
  const copies = countInMemory(pid, secret);
  child.kill('SIGKILL');
  return { copies, delivered };
}

const heap = suite('memory after a start with a secret');

heap('holds it nowhere, although the program got it', async () => {
  const { copies, delivered } = await copiesLeft();
  assert.is(delivered, secret.toString('latin1'));
  assert.is(copies, 0);
});

heap('and the search would have found it', async () => {
  assert.ok((await copiesLeft('careless')).copies > 0);
});

heap.run();
