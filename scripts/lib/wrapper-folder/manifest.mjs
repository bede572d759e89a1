import { lstatSync, readdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { sha256File } from './cache.mjs';

export const MANIFEST = 'MANIFEST.json';

/** Every file of the folder but the manifest, sorted, as paths within it. */
export function filesOf(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((path) => path !== MANIFEST)
    .sort();
}

/** Writes what the folder holds: each file's size and SHA-256, and where it came from. No dates: same input, same text. */
export function writeManifest(folder, { version, architecture, packages }) {
  const files = Object.fromEntries(
    filesOf(folder).map((path) => {
      const file = join(folder, path);
      return [path, { bytes: lstatSync(file).size, sha256: sha256File(file) }];
    }),
  );
  const bytes = Object.values(files).reduce((sum, file) => sum + file.bytes, 0);
  const manifest = { name: 'svc-wrapper', version, architecture, bytes, packages, files };
  writeFileSync(join(folder, MANIFEST), `${JSON.stringify(manifest, undefined, 2)}\n`);
  return manifest;
}
