import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { debianPackages } from './wrapper-folder/debian.mjs';

const SOURCE = 'init/svc-init.c';
const OUTPUT = 'dist/init';

/** What compiles for an architecture, the first that is there. */
const OWN_COMPILERS = ['clang-19', 'gcc', 'cc'];
const CROSS_COMPILERS = { x64: ['x86_64-linux-gnu-gcc'], arm64: ['aarch64-linux-gnu-gcc'] };
/** As Debian and as LLVM name them. */
const DEBIAN = { x64: 'amd64', arm64: 'arm64' };
const BUILTINS_TITLE = 'LLVM compiler-rt, linked into svc-init for arm64 (Apache 2.0 with LLVM exceptions)';
/** Of the C library that a compiler of Debian links to by itself. */
const GLIBC_COPYRIGHT = '/usr/share/doc/libc6-dev/copyright';
const MACHINES = { x64: 'x86_64', arm64: 'aarch64' };

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

export const hasInitCompiler = () => process.arch in DEBIAN && OWN_COMPILERS.some(links);

/**
 * Compiles svc-init, for each architecture that there is a compiler for.
 * @returns outputs as esbuild's metafile has them, and what is linked into them, for the notices
 */
export function buildInit(root) {
  const outputs = {};
  const linked = new Map();
  for (const architecture of Object.keys(DEBIAN)) {
    const chain = toolchainFor(architecture);
    if (chain === undefined) continue;
    const path = initProgram(architecture);
    mkdirSync(dirname(join(root, path)), { recursive: true });
    const flags = [...WARNINGS, ...HARDENING, BRANCHES[architecture], `-ffile-prefix-map=${root}=.`];
    const { compiler, headers, objects } = chain;
    run(root, compiler, [...flags, ...headers, SOURCE, ...LINKING, ...objects, '-o', path]);
    for (const notice of chain.notices ?? []) linked.set(notice.title, notice);
    outputs[path] = { bytes: statSync(join(root, path)).size, inputs: {}, imports: [], exports: [] };
  }
  return { metafile: { outputs }, linked: [...linked.values()] };
}

/** clang with musl, for every architecture; else a compiler with the C library that it links to by itself. */
function toolchainFor(architecture) {
  const withMusl = links('clang-19') ? muslToolchain(architecture) : undefined;
  if (withMusl !== undefined) return withMusl;
  const compiler = (architecture === process.arch ? OWN_COMPILERS : CROSS_COMPILERS[architecture]).find(
    links,
  );
  if (compiler === undefined) return undefined;
  const notices = existsSync(GLIBC_COPYRIGHT)
    ? [notice('The GNU C Library, linked into svc-init (LGPL 2.1)', GLIBC_COPYRIGHT)]
    : [];
  return { compiler, headers: ['-D_FORTIFY_SOURCE=2'], objects: [], notices };
}

/**
 * musl, of Debian's package, which is an eighth of a static glibc and under the MIT licence. On arm64 its printf needs
 * the compiler's own library; another architecture needs a linker that knows it.
 */
function muslToolchain(architecture) {
  const isOwn = architecture === process.arch;
  const musl = fetchDebian('musl', architecture);
  const linker = isOwn ? undefined : fetchDebian('linker', process.arch);
  if (musl === undefined || (!isOwn && linker === undefined)) return undefined;
  const target = `${MACHINES[architecture]}-linux-musl`;
  const resources = spawnSync('clang-19', ['-print-resource-dir'], { encoding: 'utf8' }).stdout.trim();
  const headers = [join(musl, 'include', target), join(resources, 'include')];
  const kernel = [join(musl, 'include'), join(musl, 'include', `${MACHINES[architecture]}-linux-gnu`)];
  const builtins = join(musl, 'lib/llvm-19/lib/clang/19/lib/linux/libclang_rt.builtins-aarch64.a');
  const copyright = (name) => join(musl, 'share/doc', name, 'copyright');
  return {
    compiler: 'clang-19',
    headers: [
      ...[`--target=${target}`, '-nostdinc'],
      ...headers.flatMap((folder) => ['-isystem', folder]),
      ...kernel.flatMap((folder) => ['-idirafter', folder]),
    ],
    objects: [
      '-nostdlib',
      ...['rcrt1.o', 'libc.a'].map((name) => join(musl, 'lib', target, name)),
      ...(architecture === 'arm64' ? [builtins] : []),
      ...(linker === undefined ? [] : [`--ld-path=${join(linker, 'lib/llvm-19/bin/ld.lld')}`]),
    ],
    notices: [
      notice('musl, linked into svc-init (MIT)', copyright('musl-dev')),
      ...(architecture === 'arm64' ? [notice(BUILTINS_TITLE, copyright('libclang-rt-19-dev'))] : []),
    ],
  };
}

const notice = (title, file) => ({ title, text: readFileSync(file, 'utf8').trim() });

function fetchDebian(group, architecture) {
  const say = (text) => process.stderr.write(`${text}\n`);
  try {
    return join(debianPackages(group, DEBIAN[architecture], { frozen: false, say }).folder, 'usr');
  } catch (error) {
    say(`svc-init is built without musl: Debian's ${group} packages are not to be had (${error.message}).`);
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
