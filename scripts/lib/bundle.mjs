import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { build } from 'esbuild';
import { buildBpf, hasClang } from './bpf.mjs';
import { builtinsInParts } from './builtins-in-parts.mjs';
import { commonJsExports } from './commonjs-exports.mjs';
import { buildInit } from './init.mjs';
import { bundleSdk } from './sdk.mjs';
import { bundledPackages, writeNotices } from './third-party.mjs';

/** CommonJS packages inside an ES module still call require() for Node's own modules. */
const REQUIRE = `import { createRequire as __createRequire } from 'node:module';
const require = __createRequire(import.meta.url);`;

/** Stands in every file, because what is imported runs before the file that imports it. */
const NO_DEBUGGER =
  "process.listenerCount('SIGUSR1') > 0 || process.on('SIGUSR1', () => {}); // else it opens a debugger's port";

/**
 * Looked up by packages at run time if at all: compilers that oclif only needs to load plugins in
 * TypeScript, and native code that cannot be bundled.
 */
const EXTERNAL = ['typescript', 'ts-node', 'tsx', 'ffi-rs', 'bufferutil', 'utf-8-validate', 'aws-crt'];

function filesBelow(directory) {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** One entry a command, so that a command loads nothing of the others; src/plugin-api/index.ts is what plugins import. */
export function entryPoints(root) {
  const commands = filesBelow(join(root, 'src', 'commands')).filter((file) => file.endsWith('.ts'));
  const single = ['main.ts', 'plugin-api/index.ts']
    .map((name) => join(root, 'src', name))
    .filter((file) => existsSync(file));
  return [...single, ...commands.sort()];
}

/** Writes dist/ and removes what an earlier build left there. */
export async function bundle(root) {
  const outdir = join(root, 'dist');
  mkdirSync(outdir, { recursive: true });
  const init = buildInit(root);
  const built = await Promise.all([
    bundleCommands(root, outdir),
    bundleWrapper(root, outdir),
    bundleSdk(root, EXTERNAL),
    ...(hasClang() ? [buildBpf(root)] : []),
  ]);
  const outputs = Object.assign({}, ...[...built, init].map(({ metafile }) => metafile.outputs));
  const notices = writeNotices(root, bundledPackages(root, outputs), init.linked);
  removeOthers(outdir, new Set([...Object.keys(outputs), notices].map((path) => join(root, path))));
  return { outputs };
}

/** Names of chunks carry their hash. */
function bundleCommands(root, outdir) {
  return build({
    entryPoints: entryPoints(root),
    outbase: join(root, 'src'),
    outdir,
    absWorkingDir: root,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    external: EXTERNAL,
    plugins: [commonJsExports(), builtinsInParts()],
    chunkNames: 'chunks/[name]-[hash]',
    banner: { js: `${REQUIRE}\n${NO_DEBUGGER}` },
    legalComments: 'linked',
    metafile: true,
    logLevel: 'warning',
  });
}

/** One CommonJS file, which starts tens of milliseconds sooner than ES modules behind oclif do. */
function bundleWrapper(root, outdir) {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return build({
    entryPoints: [join(root, 'src', 'wrapper-main.ts')],
    outfile: join(outdir, 'wrapper.cjs'),
    absWorkingDir: root,
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node22',
    external: EXTERNAL,
    define: { 'import.meta.url': '__filename', SVC_BUNDLED_VERSION: JSON.stringify(version) },
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'linked',
    metafile: true,
    logLevel: 'warning',
  });
}

function removeOthers(outdir, written) {
  for (const file of filesBelow(outdir)) {
    if (!written.has(file) && !relative(outdir, file).startsWith('.')) rmSync(file);
  }
}
