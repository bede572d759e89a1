/** Writes test/vectors/format: `node test/tools/format-vectors/main.ts`. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { vectorFiles } from './vector-files.ts';

const folder = fileURLToPath(new URL('../../vectors/format/', import.meta.url));

rmSync(folder, { recursive: true, force: true });
for (const [name, text] of vectorFiles()) {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
}
