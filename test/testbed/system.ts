import { access, constants, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { aptInstall } from './apt.ts';
import { exec } from './exec.ts';
import type { LibraryRecipe, SystemRecipe, Tool, ToolName } from './types.ts';

const TRIPLETS: Readonly<Record<string, string>> = { x64: 'x86_64-linux-gnu', arm64: 'aarch64-linux-gnu' };

/** Debian keeps some commands for root apart. */
const debianFolders = ['/usr/bin', '/usr/sbin'];
const pathFolders = () => (process.env.PATH ?? '').split(':').filter(Boolean);
const libraryFolders = () => [`/usr/lib/${TRIPLETS[process.arch] ?? ''}`, '/usr/lib64', '/usr/lib'];

/**
 * Finds a command of the system, or installs its Debian package. Only where that cannot be had another one of that name
 * will do: it may be of another version, such as AWS CLI 1 in the place of 2.
 */
export async function ensureSystemTool(
  name: ToolName,
  recipe: SystemRecipe,
  onInstall: () => void,
): Promise<Tool> {
  const { command, debianPackage } = recipe;
  const look = (folders: readonly string[]) => find(folders, command, constants.X_OK);
  const path = await ensureFile(command, debianPackage, onInstall, () => look(debianFolders)).catch(
    async (error: unknown) => {
      const other = await look(pathFolders());
      if (other === undefined) throw error;
      return other;
    },
  );
  return { name, version: await version(path, recipe.versionFlag ?? '--version'), bins: { [command]: path } };
}

/** Finds a library of the system, or installs its Debian package. */
export async function ensureLibrary(
  name: ToolName,
  { file, debianPackage }: LibraryRecipe,
  onInstall: () => void,
): Promise<Tool> {
  const path = await ensureFile(file, debianPackage, onInstall, () =>
    find(libraryFolders(), file, constants.R_OK),
  );
  return { name, version: versionIn(await realpath(path)), bins: { [file]: path } };
}

async function ensureFile(
  file: string,
  debianPackage: string,
  onInstall: () => void,
  look: () => Promise<string | undefined>,
): Promise<string> {
  const there = await look();
  if (there) return there;
  onInstall();
  await aptInstall([debianPackage]);
  const path = await look();
  if (!path) throw new Error(`Debian package ${debianPackage} holds no ${file}`);
  return path;
}

async function find(folders: readonly string[], file: string, mode: number): Promise<string | undefined> {
  for (const folder of folders) {
    const path = join(folder, file);
    const there = await access(path, mode).then(
      () => true,
      () => false,
    );
    if (there) return path;
  }
  return undefined;
}

async function version(path: string, flag: string): Promise<string> {
  return versionIn(await exec(path, [flag], { timeoutMs: 60_000 }));
}

function versionIn(text: string): string {
  return /\d+(\.\d+)+/.exec(text)?.[0] ?? 'unknown';
}
