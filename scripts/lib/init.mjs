import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { debianPackages } from './wrapper-folder/debian.mjs';

const SOURCE = 'init/svc-init.c';
const OUTPUT = 'dist/init';

/** What compiles for an architecture, the first that is there; another machine's cross compiler is used where there is one. */
const COMPILERS = {
  x64: process.arch === 'x64' ? ['clang-19', 'gcc', 'cc'] : ['x86_64-linux-gnu-gcc'],
  arm64: process.arch === 'arm64' ? ['clang-19', 'gcc', 'cc'] : ['aarch64-linux-gnu-gcc'],
};

const WARNINGS = '-std=gnu11 -Wall -Wextra -Werror'.split(' ');
const HARDENING =
  '-O2 -fPIE -fstack-protector-strong -fstack-clash-protection -ftrivial-auto-var-init=zero'.split(' ');
const LINKING = '-static-pie -s -Wl,-z,relro,-z,now,-z,noexecstack'.split(' ');
const BRANCHES = { x64: '-fcf-protection=full', arm64: '-mbranch-protection=standard' };

/** What the build reads for it, for the stamp. */
export function initSources(root) {
  const folder = dirname(join(root, SOURCE));
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
}

export const initProgram = (architecture) => `${OUTPUT}/${architecture}/svc-init`;

/** Whether it is built for this machine where there is a source; for others it is where there is a compiler for them. */
export const hasInit = (root) =>
  !existsSync(join(root, SOURCE)) || existsSync(join(root, initProgram(process.arch)));

export const hasInitCompiler = () => COMPILERS[process.arch]?.some(links) ?? false;

/**
 * Compiles svc-init, for each architecture that there is a compiler for.
 * @returns outputs as esbuild's metafile has them, and what is linked into them, for the notices
 */
export function buildInit(root) {
  const outputs = {};
  const linked = [];
  for (const architecture of Object.keys(COMPILERS)) {
    const compiler = COMPILERS[architecture].find(links);
    if (compiler === undefined) continue;
    const path = initProgram(architecture);
    mkdirSync(dirname(join(root, path)), { recursive: true });
    const flags = [...WARNINGS, ...HARDENING, BRANCHES[architecture], `-ffile-prefix-map=${root}=.`];
    const library = libraryFor(architecture, compiler);
    run(root, compiler, [...flags, ...library.headers, SOURCE, ...LINKING, ...library.objects, '-o', path]);
    if (library.notice !== undefined) linked.push(library.notice);
    outputs[path] = { bytes: statSync(join(root, path)).size, inputs: {}, imports: [], exports: [] };
  }
  return { metafile: { outputs }, linked };
}

/**
 * musl, of Debian's package, which is an eighth of a static glibc and under the MIT licence; else the C library that the
 * compiler links to by itself. The kernel's headers are the machine's own.
 */
function libraryFor(architecture, compiler) {
  const musl = architecture === 'x64' && compiler === 'clang-19' ? fetchMusl() : undefined;
  if (musl === undefined) return { headers: ['-D_FORTIFY_SOURCE=2'], objects: [] };
  const resources = spawnSync(compiler, ['-print-resource-dir'], { encoding: 'utf8' }).stdout.trim();
  const headers = [join(musl, 'include/x86_64-linux-musl'), join(resources, 'include')];
  const kernel = ['/usr/include', '/usr/include/x86_64-linux-gnu'];
  return {
    headers: [
      ...['--target=x86_64-linux-musl', '-nostdinc'],
      ...headers.flatMap((folder) => ['-isystem', folder]),
      ...kernel.flatMap((folder) => ['-idirafter', folder]),
    ],
    objects: ['-nostdlib', ...['rcrt1.o', 'libc.a'].map((name) => join(musl, 'lib/x86_64-linux-musl', name))],
    notice: {
      title: 'musl, linked into svc-init (MIT)',
      text: readFileSync(join(musl, 'share/doc/musl-dev/copyright'), 'utf8').trim(),
    },
  };
}

function fetchMusl() {
  const say = (text) => process.stderr.write(`${text}\n`);
  try {
    return join(debianPackages('musl', 'amd64', { frozen: false, say }).folder, 'usr');
  } catch (error) {
    say(`svc-init is linked with the machine's own C library: musl is not to be had (${error.message}).`);
    return undefined;
  }
}

/** Whether the compiler is there, with the C library to link to. */
function links(compiler) {
  const { status } = spawnSync(compiler, ['-x', 'c', '-', '-static-pie', '-o', '/dev/null'], {
    input: 'int main(void) { return 0; }',
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  return status === 0;
}

function run(cwd, command, args) {
  const { status, error } = spawnSync(command, args, { cwd, stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? `status ${status}`}`);
}
