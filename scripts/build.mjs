/**
 * Bundles src/ into dist/ and brings oclif.manifest.json up to date with it. With CI=true the committed
 * manifest is left as it is (the drift check compares it); `--update` also rewrites the command snapshot and the
 * declarations of the public interface.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { hasBpfObjects } from './lib/bpf.mjs';
import { bundle } from './lib/bundle.mjs';
import { hasInit } from './lib/init.mjs';
import { committed, generateManifest, MANIFEST } from './lib/manifest.mjs';
import { ROOT } from './lib/paths.mjs';
import { commandSnapshot, SNAPSHOT } from './lib/snapshot.mjs';
import { STAMP, sourceHash } from './lib/stamp.mjs';
import { METAFILE } from './lib/weight.mjs';

const update = process.argv.includes('--update');
const say = (text) => process.stderr.write(`${text}\n`);

function refresh(name, text, write) {
  if (committed(ROOT, name) === text) return;
  if (write) {
    mkdirSync(dirname(join(ROOT, name)), { recursive: true });
    writeFileSync(join(ROOT, name), text);
  }
  say(write ? `Updated ${name}: commit it.` : `${name} is out of date.`);
}

const started = performance.now();
const hash = sourceHash(ROOT);
rmSync(join(ROOT, STAMP), { force: true });
const metafile = await bundle(ROOT);
writeFileSync(join(ROOT, METAFILE), JSON.stringify(metafile));
if (!hasBpfObjects(ROOT)) {
  say(
    'The BPF programs of the node agent were left out: clang-19, llvm-19 and libbpf-dev are not installed.',
  );
  if (process.env['CI'] === 'true') process.exit(1);
}
if (!hasInit(ROOT)) {
  say(
    'svc-init was left out, and the wrapper does not start without it: no C compiler (clang-19 or gcc) with a static C library is installed.',
  );
  if (process.env['CI'] === 'true') process.exit(1);
}
const manifest = await generateManifest(ROOT);
refresh(MANIFEST, manifest, process.env['CI'] !== 'true');
refresh(SNAPSHOT, commandSnapshot(manifest), update);
if (update) {
  const { DECLARATIONS, renderDeclarations } = await import('./lib/declarations.mjs');
  refresh(DECLARATIONS, renderDeclarations(ROOT), true);
}
writeFileSync(join(ROOT, STAMP), hash);
say(`Built dist/ in ${Math.round(performance.now() - started)} ms.`);
