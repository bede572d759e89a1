import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { exec } from '../exec.ts';
import type { CachedRecipe } from '../types.ts';

const FLAGS = ['build', '-trimpath', '-ldflags=-s -w'];
const ENVIRONMENT = { CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false' };

/** The folder of a module below test/tools. */
export function ownModule(name: string): string {
  return fileURLToPath(new URL(`../../tools/${name}`, import.meta.url));
}

/** A command of this repository, in Go, built at low priority; a change of its sources builds it anew. */
export function ownGoTool(name: string, version: string): CachedRecipe {
  const module = ownModule(name);
  const source = (file: string) => readFileSync(join(module, file), 'utf8');
  return {
    kind: 'cached',
    version,
    id: ['main.go', 'go.mod', 'go.sum'].map(source).concat(FLAGS).join('\n'),
    bins: { [name]: name },
    async build(dir) {
      const command = ['-n', '19', 'go', ...FLAGS, '-o', join(dir, name), '.'];
      await exec('nice', command, { cwd: module, env: { ...process.env, ...ENVIRONMENT } });
    },
  };
}
