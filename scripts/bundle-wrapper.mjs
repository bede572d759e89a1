/**
 * Makes the folder /svc that an image or volume carries: Node, its loader and libraries, and the wrapper. It runs in
 * any Linux root file system of its architecture. Needs npm, and apt-get and dpkg-deb of a Debian system.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { initProgram } from './lib/init.mjs';
import { inRoot } from './lib/paths.mjs';
import { ARCHITECTURES } from './lib/wrapper-folder/architectures.mjs';
import { assemble } from './lib/wrapper-folder/assemble.mjs';
import { debianPackages } from './lib/wrapper-folder/debian.mjs';
import { elfTools } from './lib/wrapper-folder/elf.mjs';
import { MANIFEST } from './lib/wrapper-folder/manifest.mjs';
import { npmPackages } from './lib/wrapper-folder/npm-packages.mjs';

const USAGE = `Usage: npm run bundle:wrapper -- [--arch x64|arm64] [--out FOLDER] [--script FILE] [--frozen] [--no-code-cache]
  --arch    of the machine that it will run on; default: this one's
  --out     default: build/svc-wrapper-ARCH/svc; replaced when it is an earlier one
  --script  the wrapper; default: dist/wrapper.cjs
  --frozen  refuse other versions than those of the lock files
  --no-code-cache  start 8 ms slower, and be the same file by file at each build`;
const say = (text) => process.stderr.write(`${text}\n`);

function options() {
  const { values } = parseArgs({
    options: {
      arch: { type: 'string', default: process.arch },
      out: { type: 'string' },
      script: { type: 'string', default: inRoot('dist', 'wrapper.cjs') },
      frozen: { type: 'boolean', default: false },
      'no-code-cache': { type: 'boolean', default: false },
    },
  });
  if (!Object.hasOwn(ARCHITECTURES, values.arch))
    throw new Error(`Unknown architecture ${values.arch}.\n${USAGE}`);
  return { ...values, out: resolve(values.out ?? inRoot('build', `svc-wrapper-${values.arch}`, 'svc')) };
}

/** What is needed from outside, fetched or from the cache. */
function gather({ arch, frozen, script, 'no-code-cache': noCodeCache }) {
  const names = ARCHITECTURES[arch];
  const host = ARCHITECTURES[process.arch];
  if (host === undefined)
    throw new Error(`Cannot build on ${process.arch}: the tools are known for x64 and arm64.`);
  const debian = debianPackages('libraries', names.debian, { frozen, say });
  const tools = debianPackages('tools', host.debian, { frozen, say });
  const npm = npmPackages(arch);
  return {
    ...{ architecture: arch, names, npm, script, libraries: debian.folder },
    init: initFor(arch),
    tools: elfTools(tools.folder, host),
    packages: { npm: npm.packages, debian: debian.packages, tools: tools.packages },
    codeCache: !noCodeCache && canRun(arch),
    version: JSON.parse(readFileSync(inRoot('package.json'), 'utf8')).version,
  };
}

/** Without it the wrapper does not start. */
function initFor(arch) {
  const program = inRoot(initProgram(arch));
  if (existsSync(program)) return program;
  throw new Error(
    `There is no svc-init for ${arch}: build it first (npm run build), with clang-19 or a compiler for ${arch}.`,
  );
}

/** V8's cache is made by running the Node of the folder. */
function canRun(arch) {
  if (arch === process.arch) return true;
  say(`No code cache for ${arch} can be made on ${process.arch}: the wrapper will start 8 ms slower.`);
  return false;
}

/** Only an earlier folder is replaced. */
function refuseOthers(out) {
  if (existsSync(out) && !existsSync(`${out}/${MANIFEST}`))
    throw new Error(`${out} is there and is no folder of this script.`);
}

/** Puts the finished folder in the place of an earlier one; never of anything else. */
function replace(folder, out) {
  refuseOthers(out);
  rmSync(out, { recursive: true, force: true });
  renameSync(folder, out);
}

function main() {
  const chosen = options();
  refuseOthers(chosen.out);
  const parts = gather(chosen);
  mkdirSync(dirname(chosen.out), { recursive: true });
  const temporary = mkdtempSync(`${chosen.out}.tmp-`);
  try {
    const { bytes } = assemble(temporary, parts);
    replace(temporary, chosen.out);
    say(
      `Made ${chosen.out} (${chosen.arch}, Node ${parts.npm.packages[0].version}, ${Math.round(bytes / 1e6)} MB).`,
    );
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

try {
  main();
} catch (error) {
  say(error.message);
  process.exitCode = 1;
}
