import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ensureBuilt } from '../cli/support/svc.ts';
import { cleanEnv } from '../support/clean-env.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { sectionOf } from './guides/console.ts';
import { follow, type Reader } from './guides/follow.ts';
import { programsIn } from './guides/programs.ts';
import { openShell } from './guides/shell.ts';

/** Everything is typed into one terminal, one page after the other. */
export const timeout = 480_000;

const pageOf = (name: string): string => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');

const test = suite<{ reader: Reader }>('a newcomer on a laptop');
const folder = temporaryFolder('laptop');

test.before(async (context) => {
  await ensureBuilt();
  const tools = { openbao: 'bao', versitygw: 'versitygw', awscli: 'aws' } as const;
  const bin = await programsIn(folder.path, tools);
  const env = cleanEnv({ HOME: folder.path, PATH: `${bin}:${process.env['PATH']}`, LC_ALL: 'C.UTF-8' });
  const shell = await openShell({ cwd: folder.path, env, alone: true });
  context.reader = { shell, folder: folder.path, own: {} };
});

test.after(async ({ reader }) => {
  await reader?.shell.end();
  await folder.remove();
});

test('types what docs/GETTING-STARTED.md says for a laptop', async ({ reader }) => {
  const page = pageOf('GETTING-STARTED.md');
  const untilTheEnd = sectionOf(page, '## On a laptop').replace(
    sectionOf(page, '### Take it down').trim(),
    '',
  );
  const typed = await follow(untilTheEnd, reader);
  assert.ok(typed > 30, String(typed));
});

test('goes on with docs/KEY-ROTATION.md', async ({ reader }) => {
  const typed = await follow(pageOf('KEY-ROTATION.md'), reader);
  assert.ok(typed > 15, String(typed));
});

test('and takes it down', async ({ reader }) => {
  const page = pageOf('GETTING-STARTED.md');
  assert.is(await follow(sectionOf(page, '### Take it down'), reader), 1);
});

test.run();
