/**
 * All checks that are not tests: format and lint, types, import rules, and that generated files are
 * current. Runs every one; the last line is `N passed, N failed`.
 */
import { spawnSync } from 'node:child_process';
import { committed, generateManifest, MANIFEST } from './lib/manifest.mjs';
import { inRoot, ROOT } from './lib/paths.mjs';
import { commandSnapshot, SNAPSHOT } from './lib/snapshot.mjs';
import { heavyAtStart, readOutputs, unfitForWrapper } from './lib/weight.mjs';

const REGENERATE = 'run `npm run build -- --update` and commit the result';

/** @returns {() => string} a check that runs a tool and gives its complaint, or nothing */
function tool(name, ...args) {
  return () => {
    const run = spawnSync(process.execPath, [inRoot('node_modules', name), ...args], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    return run.status === 0 ? '' : `${run.stdout ?? ''}${run.stderr ?? ''}` || String(run.error);
  };
}

async function manifestIsCurrent() {
  return (await generateManifest(ROOT)) === committed(ROOT, MANIFEST)
    ? ''
    : `${MANIFEST} is out of date: ${REGENERATE}.`;
}

async function snapshotIsCurrent() {
  const current = commandSnapshot(await generateManifest(ROOT));
  return current === committed(ROOT, SNAPSHOT)
    ? ''
    : `The commands are not those of ${SNAPSHOT}: if the change is meant, ${REGENERATE}.\n${difference(current)}`;
}

function difference(current) {
  const { stdout } = spawnSync('diff', ['-u', inRoot(SNAPSHOT), '-'], { input: current, encoding: 'utf8' });
  return stdout ?? '';
}

const CHECKS = [
  ['format and lint (biome)', tool('@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.')],
  ['types (tsc)', tool('typescript/bin/tsc', '--noEmit', '-p', 'tsconfig.json')],
  [
    'imports (dependency-cruiser)',
    tool('dependency-cruiser/bin/dependency-cruiser.mjs', 'src', '--config', '.dependency-cruiser.cjs'),
  ],
  ['manifest', manifestIsCurrent],
  ['command snapshot', snapshotIsCurrent],
  ['start-up weight', () => heavyAtStart(readOutputs(ROOT)).join('\n')],
  ['weight of the wrapper', () => unfitForWrapper(readOutputs(ROOT)).join('\n')],
];

let failed = 0;
for (const [name, check] of CHECKS) {
  const complaint = await check();
  if (complaint) failed += 1;
  process.stdout.write(
    `${complaint ? 'FAIL' : 'ok  '} ${name}\n${complaint ? `${complaint.trimEnd()}\n` : ''}`,
  );
}
process.stdout.write(`\n${CHECKS.length - failed} passed, ${failed} failed\n`);
process.exitCode = failed > 0 ? 1 : 0;
