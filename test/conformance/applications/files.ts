import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bytesOf } from '../support/payload.ts';

/** Lengths by path below a folder. */
export type Files = Readonly<Record<string, number>>;

/** Files whose content follows from `seed` and their path. */
export function writeFiles(folder: string, seed: string, files: Files): void {
  for (const [path, length] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), bytesOf(`${seed}/${path}`, length));
  }
}

/** @throws Error naming paths that differ */
export function assertFiles(folder: string, seed: string, files: Files): void {
  const wrong = filesThatDiffer(folder, seed, files);
  if (wrong.length > 0)
    throw new Error(`files in ${folder} are not as they were written: ${wrong.join(', ')}`);
}

/** Paths below a folder that are missing, too many, or of other content than `writeFiles` wrote; sorted. */
function filesThatDiffer(folder: string, seed: string, files: Files): string[] {
  const there = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
  const same = there.filter((path) => {
    const length = files[path];
    return (
      length !== undefined && readFileSync(join(folder, path)).equals(bytesOf(`${seed}/${path}`, length))
    );
  });
  const all = new Set([...there, ...Object.keys(files)]);
  return [...all].filter((path) => !same.includes(path)).sort();
}
