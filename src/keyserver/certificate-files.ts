import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const maxDepth = 8;

/** Regular files, also of subfolders, following links to files, without the `..data` folders of Kubernetes. */
export function certificateFiles(dir: string, depth = 0): string[] {
  const entries = readdirSync(dir, { withFileTypes: true }).filter(({ name }) => !name.startsWith('..'));
  return entries
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(dir, entry.name);
      if (entry.isDirectory()) return depth < maxDepth ? certificateFiles(path, depth + 1) : [];
      return statSync(path).isFile() ? [path] : [];
    });
}
