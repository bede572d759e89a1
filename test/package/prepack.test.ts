import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { bpfObjects } from '../../scripts/lib/bpf.mjs';
import { initProgram } from '../../scripts/lib/init.mjs';
import { STAMP, sourceHash } from '../../scripts/lib/stamp.mjs';
import { npm, npmEnv } from '../support/npm.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { ROOT } from './support.ts';

/** Packs twice. */
export const slow = true;

const test = suite('npm pack');
const folder = temporaryFolder('prepack');
const [tree, programs] = ['tree', 'programs'].map((name) => join(folder.path, name)) as [string, string];

/** A tree that is built as on a machine whose only programs are Node and a shell. */
test.before(() => {
  mkdirSync(tree);
  for (const name of ['bpf', 'init', 'scripts', 'src', 'package.json', 'package-lock.json'])
    cpSync(join(ROOT, name), join(tree, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'));
  write(STAMP, sourceHash(tree));
  mkdirSync(programs);
  symlinkSync(process.execPath, join(programs, 'node'));
  symlinkSync('/bin/sh', join(programs, 'sh'));
});

test.after(() => folder.remove());

function write(path: string, text: string): void {
  mkdirSync(join(tree, path, '..'), { recursive: true });
  writeFileSync(join(tree, path), text);
}

const pack = () =>
  npm(['pack', '--dry-run', '--loglevel', 'notice'], tree, { env: { ...npmEnv(), PATH: programs } });

test('ends where what machines without compilers need would be left out', async () => {
  const { status, stderr } = await pack();
  assert.is(status, 1, stderr);
  for (const text of ['BPF programs', 'svc-init', 'clang-19', '--ignore-scripts']) assert.match(stderr, text);
});

test('makes a package where all of it is there', async () => {
  for (const path of [...bpfObjects(tree), initProgram(process.arch)]) write(path, '');
  const { status, stderr } = await pack();
  assert.is(status, 0, stderr);
  assert.match(stderr, 'bpf/x64/lsm.bpf.o');
});

test.run();
