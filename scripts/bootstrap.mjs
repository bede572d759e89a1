/**
 * What the npm scripts call: installs and builds what is missing, then runs the task under the
 * pinned Node. Runs on Node 20 itself and needs no package.
 */
import { ensureClang } from './lib/clang.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { FOR_BUNDLE, FOR_TYPESCRIPT, nodeBinary } from './lib/node-binary.mjs';
import { passThrough } from './lib/pass-through.mjs';
import { inRoot, ROOT } from './lib/paths.mjs';
import { isBuilt } from './lib/stamp.mjs';

/** `whole`: wants the BPF programs too; other tasks do without them on a machine that has no compiler for them. */
const TASKS = {
  start: { run: ['bin/run.js', 'dev'], built: true, node: FOR_BUNDLE },
  build: { run: ['scripts/build.mjs'], built: false, node: FOR_BUNDLE },
  test: { run: ['test/runner/main.ts'], built: true, whole: true, node: FOR_TYPESCRIPT },
  bench: { run: ['bench/main.ts'], built: true, whole: true, node: FOR_TYPESCRIPT },
  conformance: { run: ['test/conformance/main.ts'], built: true, whole: true, node: FOR_TYPESCRIPT },
  'bundle:wrapper': { run: ['scripts/bundle-wrapper.mjs'], built: true, node: FOR_BUNDLE },
  prepack: { run: ['scripts/prepack.mjs'], built: true, whole: true, node: FOR_BUNDLE },
  docs: { run: ['scripts/docs/write.ts'], built: true, node: FOR_TYPESCRIPT },
  lint: { run: ['scripts/lint.mjs'], built: true, node: FOR_TYPESCRIPT },
};

async function main([name, ...args]) {
  const task = TASKS[name];
  if (!task) {
    process.stderr.write(`Usage: node scripts/bootstrap.mjs ${Object.keys(TASKS).join('|')} [arguments]\n`);
    return 2;
  }
  ensureInstalled(ROOT);
  if (task.whole || process.env['CI'] === 'true') ensureClang((text) => process.stderr.write(`${text}\n`));
  const node = nodeBinary(task.node);
  if (task.built && !isBuilt(ROOT)) {
    const status = await passThrough(node, [inRoot('scripts', 'build.mjs')], {
      cwd: ROOT,
      stdio: ['ignore', 2, 2],
    });
    if (status !== 0) return status;
  }
  const [file, ...fixed] = task.run;
  return passThrough(node, [inRoot(file), ...fixed, ...args]);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
