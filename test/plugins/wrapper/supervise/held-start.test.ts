import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { temporaryFolder } from '../../../support/temporary.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { startWrapper } from './support/wrapper-process.ts';

const test = suite('a worker that dies before it has left its state');

test('has changed nothing: the next one has the application started again, once', async () => {
  const folder = temporaryFolder('held-start');
  const [restartWhen, diesOnce] = [join(folder.path, 'running'), join(folder.path, 'died')];
  const script = 'trap "exit 9" TERM; echo run; touch "$0"; while :; do sleep 0.05; done';
  const wrapper = startWrapper(['sh', '-c', script, restartWhen], { restartWhen, diesOnce });
  await waitFor('the second run', () => wrapper.output() === 'run\nrun\n', { details: wrapper.output });
  assert.ok(existsSync(`${diesOnce}-again`), 'it was not the first worker that did it');
  wrapper.send('SIGTERM');
  assert.is(await wrapper.status, 9);
  await folder.remove();
});

test.run();
