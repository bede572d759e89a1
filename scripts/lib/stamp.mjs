import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const INPUTS = [
  'package.json',
  'package-lock.json',
  'scripts/build.mjs',
  'scripts/lib/bundle.mjs',
  'scripts/lib/sdk.mjs',
];
export const STAMP = 'dist/.stamp';

function sources(root) {
  const below = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true });
  return below
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}

/** Hash of everything that the build reads, so that a checkout with other time stamps is not built again. */
export function sourceHash(root) {
  const hash = createHash('sha256');
  for (const path of [...INPUTS.map((name) => join(root, name)), ...sources(root)].sort()) {
    hash
      .update(`${relative(root, path)}\0`)
      .update(existsSync(path) ? readFileSync(path) : '')
      .update('\0');
  }
  return hash.digest('hex');
}

export function isBuilt(root) {
  const stamp = join(root, STAMP);
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === sourceHash(root);
}
