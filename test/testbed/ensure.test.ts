import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { runCommand } from '../support/run-command.ts';
import { cacheRoot, toolDir } from './cache.ts';
import { toolsNamed } from './catalog.ts';
import { openbao } from './recipes/openbao.ts';
import { knownUnavailable, UNAVAILABLE } from './unavailable.ts';

export const slow = true;

const test = suite<{ folder: string; cache: string; log: string }>('tool cache');
const script = fileURLToPath(new URL('./fixtures/build-once.ts', import.meta.url));

test.before.each((context) => {
  context.folder = mkdtempSync(join(tmpdir(), 'svc-test-cache-'));
  context.cache = join(context.folder, 'cache');
  context.log = join(context.folder, 'log');
});

test.after.each(({ folder }) => rmSync(folder, { recursive: true }));

function ask({ cache, log }: { cache: string; log: string }, outcome = 'succeed') {
  const env = { SVC_TESTBED_CACHE: cache };
  return runCommand(process.execPath, [script, log, outcome], '/', { env });
}

test('processes that want the same tool build it once', async (context) => {
  const results = await Promise.all([ask(context), ask(context), ask(context)]);
  const [path] = results.map(({ stdout }) => stdout);
  assert.is(readFileSync(path as string, 'utf8'), 'content');
  assert.equal(
    results.map(({ status, stdout }) => [status, stdout]),
    results.map(() => [0, path]),
  );
  await ask(context);
  assert.is(readFileSync(context.log, 'utf8'), 'built\n');
  assert.is(readdirSync(context.cache).length, 1);
});

test('a build that fails leaves nothing, and is tried again', async (context) => {
  assert.is((await ask(context, 'fail')).status, 1);
  assert.equal(readdirSync(context.cache), []);
  assert.is((await ask(context)).status, 0);
});

test('what a killed build left is swept away', async (context) => {
  assert.is((await ask(context)).status, 0);
  const [built = ''] = readdirSync(context.cache);
  assert.match(built, /^minio-0-[0-9a-f]{12}$/);
  renameSync(join(context.cache, built), join(context.cache, `${built}.tmp-123456`));
  assert.is((await ask(context)).status, 0);
  assert.equal(readdirSync(context.cache), [built]);
});

test('the cache is where the environment says, and keyed by the recipe', () => {
  assert.is(cacheRoot({ SVC_TESTBED_CACHE: '/c' }), '/c');
  assert.is(cacheRoot({ XDG_CACHE_HOME: '/x' }), '/x/svc-testbed');
  assert.match(cacheRoot({}), /\.cache\/svc-testbed$/);
  const other = { ...openbao, id: `${openbao.id} changed` };
  assert.is.not(toolDir('openbao', openbao, '/c'), toolDir('openbao', other, '/c'));
  assert.match(toolDir('openbao', openbao, '/c'), /^\/c\/openbao-2\.7\.2-[0-9a-f]{12}$/);
});

test('what this run could not have is not tried again', async () => {
  const tried = JSON.stringify([{ unavailable: 'minio', reason: 'no module proxy answers' }]);
  assert.is(knownUnavailable('minio', { [UNAVAILABLE]: tried }), 'no module proxy answers');
  assert.is(knownUnavailable('rclone', { [UNAVAILABLE]: tried }), undefined);
  assert.is(knownUnavailable('minio', {}), undefined);
});

test('tools are named on the command line', () => {
  assert.equal(toolsNamed(['minio', 'clients']), ['minio', 'boto3', 'awscli', 'rclone-client']);
  assert.throws(() => toolsNamed(['moto']), /unknown tool moto; known: openbao/);
});

test.run();
