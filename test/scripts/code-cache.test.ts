import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { cleanEnv } from '../support/clean-env.ts';
import { type TemporaryFolder, temporaryFolder } from '../support/temporary.ts';

const LOADER = fileURLToPath(new URL('../../scripts/wrapper-folder/svc-wrapper.cjs', import.meta.url));

const test = suite<{ folder: TemporaryFolder }>('compiled code beside the wrapper');

test.before((context) => {
  context.folder = temporaryFolder('code-cache');
  copyFileSync(LOADER, join(context.folder.path, 'svc-wrapper.cjs'));
});
test.after(({ folder }) => folder.remove());

const program = (word: string) =>
  `function said() { return '${word}'; }\nprocess.stdout.write(said() + process.argv.slice(2));`;

/** As warm-up.cjs writes it. */
function cacheOf(text: string): Buffer {
  const source = `(function (require, module, __filename, __dirname) {${text}\n})`;
  const compiled = new Script(source).createCachedData();
  return Buffer.concat([createHash('sha256').update(source, 'latin1').update(compiled).digest(), compiled]);
}

function run(folder: string, text: string, cache: Buffer, ...args: string[]) {
  writeFileSync(join(folder, 'wrapper.cjs'), text);
  writeFileSync(join(folder, `${args.length > 0 ? 'worker' : 'wrapper'}.cache`), cache);
  const command = [join(folder, 'svc-wrapper.cjs'), ...args];
  return spawnSync(process.execPath, command, { encoding: 'utf8', env: cleanEnv() });
}

test('is taken by wrapper and worker', ({ folder }) => {
  const own = cacheOf(program('first'));
  assert.is(run(folder.path, program('first'), own).stdout, 'first');
  assert.is(run(folder.path, program('first'), own, '--svc-worker=').stdout, 'first--svc-worker=');
});

test('of another text of the same length is not: V8 would run the other text', ({ folder }) => {
  assert.is(run(folder.path, program('third'), cacheOf(program('first'))).stdout, 'third');
});

test('that is damaged, cut or empty is not: V8 would end the process', ({ folder }) => {
  const whole = cacheOf(program('first'));
  const damaged = Buffer.from(whole);
  for (let at = 64; at < whole.length; at += 7) damaged.writeUInt8(damaged.readUInt8(at) ^ 16, at);
  assert.is(run(folder.path, program('first'), damaged).stdout, 'first');
  for (const length of [0, 31, 32, 100, whole.length - 1])
    assert.is(run(folder.path, program('first'), whole.subarray(0, length)).stdout, 'first', `${length}`);
});

test.run();
