import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { runCommand } from '../support/run-command.ts';
import { withTree } from './temporary-tree.ts';

const test = suite('ensureClang');

const MODULE = fileURLToPath(new URL('../../scripts/lib/clang.mjs', import.meta.url));
const CODE = `
const { ensureClang } = await import(process.argv[1]);
process.getuid = () => Number(process.argv[2]);
ensureClang((text) => process.stdout.write(text + '\\n'));`;
const PACKAGES = 'clang-19 llvm-19 libbpf-dev bpftool clang-format-19 libclang-rt-19-dev';

interface EnsureOutcome {
  readonly said: string[];
  /** What apt-get was called with. */
  readonly calls: string[];
}

/** Runs it where the PATH has nothing but an apt-get of the test's own. */
function ensure(user: number, aptGet: string): Promise<EnsureOutcome> {
  return withTree({ 'bin/apt-get': aptGet }, async (root) => {
    const bin = join(root, 'bin');
    chmodSync(join(bin, 'apt-get'), 0o755);
    const args = ['--input-type=module', '-e', CODE, MODULE, String(user)];
    const { stdout } = await runCommand(process.execPath, args, root, { env: { PATH: bin, ROOT: root } });
    const calls = existsSync(join(root, 'calls')) ? readFileSync(join(root, 'calls'), 'utf8') : '';
    return { said: lines(stdout), calls: lines(calls) };
  });
}

const lines = (text: string) => text.split('\n').filter(Boolean);
const RECORDING = '#!/bin/sh\n[ "$1" = --version ] || echo "$@" >> "$ROOT/calls"\n';

test('installs what is missing as root', async () => {
  const { said, calls } = await ensure(0, RECORDING);
  assert.equal(calls, [
    '-qq -o DPkg::Lock::Timeout=600 update',
    `-qq -o DPkg::Lock::Timeout=600 install -y --no-install-recommends ${PACKAGES}`,
  ]);
  assert.match(said[0] ?? '', /^Installing the compiler of the BPF programs/);
  assert.match(said[1] ?? '', /^Installed in \d+ s\.$/);
});

test('tells others than root what to install', async () => {
  const { said, calls } = await ensure(1000, RECORDING);
  assert.equal(calls, []);
  assert.equal(said, [
    `The compiler of the BPF programs is missing; on Debian, as root: apt-get install ${PACKAGES}`,
  ]);
});

test('names the part of apt-get that failed, and goes no further', async () => {
  const { said, calls } = await ensure(0, `${RECORDING}[ "$1" = --version ]\n`);
  assert.is(calls.length, 1);
  assert.match(said[1] ?? '', /^apt-get update failed: .* apt-get install clang-19/);
});

test.run();
