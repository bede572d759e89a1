import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../src/', import.meta.url));

/** The text of all sources below folders of src/. */
export function sourcesIn(...folders: readonly string[]): string {
  return folders
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts'))
        .map((name) => readFileSync(join(root, folder, name), 'utf8')),
    )
    .join('\n');
}

/** The first group of every match, each once. @throws Error where there is none: the pattern finds nothing any more */
export function found(text: string, pattern: RegExp): readonly string[] {
  const all = [...text.matchAll(pattern)].map(([, name = '']) => name);
  if (all.length === 0) throw new Error(`nothing matches ${pattern}`);
  return [...new Set(all)];
}
