import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CachedRecipe } from '../types.ts';
import { goBuild } from './go-build.ts';

/** The folder of a module below test/tools. */
export function ownModule(name: string): string {
  return fileURLToPath(new URL(`../../tools/${name}`, import.meta.url));
}

/**
 * A command of this repository, in Go; a change of its sources builds it anew.
 * @param linking flags of the linker
 * @param main package of the command; another module's is the `tool` of this one's go.mod
 */
export function ownGoTool(name: string, version: string, linking = '-s -w', main = '.'): CachedRecipe {
  const module = ownModule(name);
  const source = (file: string) => readFileSync(join(module, file), 'utf8');
  const flags = ['build', '-trimpath', `-ldflags=${linking}`];
  const sources = globSync('*.go', { cwd: module }).sort();
  return {
    kind: 'cached',
    version,
    id: [...sources, 'go.mod', 'go.sum'].map(source).concat(flags).join('\n'),
    bins: { [name]: name },
    build: (dir) => goBuild({ name, cwd: module, flags, output: join(dir, name), packages: [main] }),
  };
}
