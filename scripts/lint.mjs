/**
 * All checks that are not tests: format and lint, types, import rules, and that generated files are
 * current. Runs every one; the last line is `N passed, N failed`.
 */
import { spawnSync } from 'node:child_process';
import { badlyFormatted, hasFormatter } from './lib/c-format.mjs';
import { lostExports } from './lib/commonjs-exports.mjs';
import { DECLARATIONS, renderDeclarations } from './lib/declarations.mjs';
import { withoutIntegrity } from './lib/lock-files.mjs';
import { committed, generateManifest, MANIFEST } from './lib/manifest.mjs';
import { complaintsOfPackage } from './lib/package-checks.mjs';
import { inRoot, ROOT } from './lib/paths.mjs';
import { startedFromSource } from './lib/shipped-tests.mjs';
import { commandSnapshot, SNAPSHOT } from './lib/snapshot.mjs';
import { heavyAtStart, readOutputs, unfitForWrapper, wholeHttp } from './lib/weight.mjs';

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

function declarationsAreCurrent() {
  const current = renderDeclarations(ROOT);
  if (current === committed(ROOT, DECLARATIONS)) return '';
  const raise =
    'raise apiLevel (src/runtime/plugin-host) when a plugin that compiled with them no longer does';
  return `The public interface is not that of ${DECLARATIONS}: ${raise}, and ${REGENERATE}.\n${difference(current, DECLARATIONS)}`;
}

function difference(current, name = SNAPSHOT) {
  const { stdout } = spawnSync('diff', ['-u', inRoot(name), '-'], { input: current, encoding: 'utf8' });
  return stdout ?? '';
}

/** Where the build leaves the BPF programs out for want of a compiler, their sources are not looked at either. */
function formatOfC() {
  if (hasFormatter() || process.env['CI'] === 'true') return badlyFormatted(ROOT);
  process.stderr.write('clang-format-19 is not installed: the format of C is not checked\n');
  return '';
}

const CHECKS = [
  ['format and lint (biome)', tool('@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.')],
  ['types (tsc)', tool('typescript/bin/tsc', '--noEmit', '-p', 'tsconfig.json')],
  [
    'imports (dependency-cruiser)',
    tool('dependency-cruiser/bin/dependency-cruiser.mjs', 'src', '--config', '.dependency-cruiser.cjs'),
  ],
  ['format of C (clang-format)', formatOfC],
  ['tests start what is shipped', () => startedFromSource(ROOT).join('\n')],
  ['hashes of lock files', () => withoutIntegrity(ROOT).join('\n')],
  ['manifest', manifestIsCurrent],
  ['command snapshot', snapshotIsCurrent],
  ['public interface', declarationsAreCurrent],
  ['start-up weight', () => [...heavyAtStart(readOutputs(ROOT)), ...wholeHttp(readOutputs(ROOT))].join('\n')],
  ['names of CommonJS packages', async () => (await lostExports(readOutputs(ROOT), inRoot)).join('\n')],
  ['weight of the wrapper', () => unfitForWrapper(readOutputs(ROOT)).join('\n')],
  ['package (publint, are the types wrong)', () => complaintsOfPackage(ROOT)],
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
