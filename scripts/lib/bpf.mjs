import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const CLANG = 'clang-19';
const STRIP = 'llvm-strip-19';
const OUTPUT = 'dist/bpf';
/** Node's names of architectures, by which the agent finds its objects, and libbpf's. */
const ARCHITECTURES = { x64: 'x86', arm64: 'arm64' };
const FLAGS = '-target bpf -mcpu=v3 -O2 -g -Wall -Wextra -Wno-unused-parameter -Werror'.split(' ');
/** Debian keeps asm/ there; what is used of it is the same on all architectures. */
const MULTIARCH = ['x86_64', 'aarch64'].map((name) => `/usr/include/${name}-linux-gnu`);

/** What the build reads for them, for the stamp. */
export function bpfSources(root) {
  const below = readdirSync(join(root, 'bpf'), { recursive: true, withFileTypes: true });
  return below
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}

export const hasClang = () => runs(CLANG) && runs(STRIP) && existsSync('/usr/include/bpf/bpf_helpers.h');

/** The objects that a complete build has, below the root. */
export function bpfObjects(root) {
  const names = readdirSync(join(root, 'bpf')).filter((name) => name.endsWith('.bpf.c'));
  return Object.keys(ARCHITECTURES).flatMap((architecture) =>
    names.map((name) => join(OUTPUT, architecture, name.replace(/c$/, 'o'))),
  );
}

export const hasBpfObjects = (root) => bpfObjects(root).every((path) => existsSync(join(root, path)));

/**
 * Compiles the BPF programs, an object a tier and architecture.
 * @returns as esbuild's metafile has its outputs
 */
export function buildBpf(root) {
  const outputs = {};
  for (const path of bpfObjects(root)) {
    compile(root, path);
    outputs[path] = { bytes: statSync(join(root, path)).size, inputs: {}, imports: [], exports: [] };
  }
  return { metafile: { outputs } };
}

function compile(root, path) {
  const [, , architecture, object] = path.split('/');
  mkdirSync(join(root, OUTPUT, architecture), { recursive: true });
  const includes = [join(root, 'bpf'), ...MULTIARCH.filter(existsSync)].map((folder) => `-I${folder}`);
  const define = `-D__TARGET_ARCH_${ARCHITECTURES[architecture]}`;
  // BTF names source files: relative ones make a build the same wherever it is done
  const source = join('bpf', object.replace(/o$/, 'c'));
  run(root, CLANG, [...FLAGS, define, ...includes, `-fdebug-prefix-map=${root}=.`, '-c', source, '-o', path]);
  run(root, STRIP, ['-g', path]);
}

function run(cwd, command, args) {
  const { status, error } = spawnSync(command, args, { cwd, stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? `status ${status}`}`);
}

function runs(command) {
  return spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0;
}
