import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { aptInstall } from './apt.ts';
import { exec } from './exec.ts';
import type { SystemRecipe, Tool, ToolName } from './types.ts';

/** Debian's own first: a PATH may hold shims of other installations. */
async function find(command: string): Promise<string | undefined> {
  for (const folder of ['/usr/bin', ...(process.env.PATH ?? '').split(':').filter(Boolean)]) {
    const path = join(folder, command);
    if (
      await access(path, constants.X_OK).then(
        () => true,
        () => false,
      )
    )
      return path;
  }
  return undefined;
}

/** Finds a command of the system, or installs its Debian package. */
export async function ensureSystemTool(
  name: ToolName,
  recipe: SystemRecipe,
  onInstall: () => void,
): Promise<Tool> {
  let path = await find(recipe.command);
  if (!path) {
    onInstall();
    await aptInstall([recipe.debianPackage]);
    path = await find(recipe.command);
  }
  if (!path) throw new Error(`Debian package ${recipe.debianPackage} holds no command ${recipe.command}`);
  return { name, version: await version(path), bins: { [recipe.command]: path } };
}

async function version(path: string): Promise<string> {
  const text = await exec(path, ['--version'], { timeoutMs: 60_000 });
  return /\d+(\.\d+)+/.exec(text)?.[0] ?? 'unknown';
}
