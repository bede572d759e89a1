import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { CachedRecipe, ToolName } from './types.ts';

/** The folder that keeps built tools between runs, outside the work tree. */
export function cacheRoot(env: NodeJS.ProcessEnv = process.env): string {
  if (env.SVC_TESTBED_CACHE) return env.SVC_TESTBED_CACHE;
  return join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'svc-testbed');
}

/** Where a tool lives; another recipe or another machine type is another folder. */
export function toolDir(name: ToolName, recipe: CachedRecipe, root = cacheRoot()): string {
  const key = createHash('sha256').update(`${process.platform} ${process.arch}\n${recipe.id}`).digest('hex');
  return join(root, `${name}-${recipe.version}-${key.slice(0, 12)}`);
}
