import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Page {
  /** From the root of the repository. */
  readonly path: string;
  readonly text: string;
}

const root = fileURLToPath(new URL('../../../', import.meta.url));
const folders = ['docs', 'manifests', 'sdk', 'bench'];

/** The pages that people read, but for those of the reference. */
export function pages(): readonly Page[] {
  const atTop = readdirSync(root);
  const below = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  );
  return [...atTop, ...below]
    .filter((path) => path.endsWith('.md') && !path.startsWith(join('docs', 'reference')))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
}
