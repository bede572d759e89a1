import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { bpfSources, hasBpfObjects, hasClang } from './bpf.mjs';
import { hasInit, hasInitCompiler, initSources } from './init.mjs';

const INPUTS = [
  'package.json',
  'package-lock.json',
  'scripts/build.mjs',
  'scripts/lib/bpf.mjs',
  'scripts/lib/bundle.mjs',
  'scripts/lib/init.mjs',
  'scripts/lib/sdk.mjs',
  'scripts/lib/third-party.mjs',
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
  for (const path of [
    ...INPUTS.map((name) => join(root, name)),
    ...sources(root),
    ...bpfSources(root),
    ...initSources(root),
  ].sort()) {
    hash
      .update(`${relative(root, path)}\0`)
      .update(existsSync(path) ? readFileSync(path) : '')
      .update('\0');
  }
  return hash.digest('hex');
}

export function isBuilt(root) {
  const stamp = join(root, STAMP);
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== sourceHash(root)) return false;
  return (hasBpfObjects(root) || !hasClang()) && (hasInit(root) || !hasInitCompiler());
}
