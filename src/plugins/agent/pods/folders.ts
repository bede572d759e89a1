import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** A folder of the cgroup file system. */
export interface Folder {
  readonly path: string;
  /** Id of the cgroup: the inode number, which on 64-bit systems is what `name_to_handle_at` yields. Never used twice. */
  readonly id: bigint;
}

/** Undefined when it is gone, or is no folder. */
export function folderAt(path: string): Folder | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found?.isDirectory() ? { path, id: found.ino } : undefined;
}

/** Names of the folders in a folder; none when it is gone. */
export function namesIn(path: string): string[] {
  try {
    const entries = readdirSync(path, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
}

export function foldersIn(path: string): Folder[] {
  return namesIn(path)
    .map((name) => folderAt(join(path, name)))
    .filter((folder) => folder !== undefined);
}

/** Ids of all folders below one. */
export function idsBelow(path: string): Set<bigint> {
  const all = foldersIn(path);
  // those that are added meanwhile are visited, too
  for (const folder of all) all.push(...foldersIn(folder.path));
  return new Set(all.map(({ id }) => id));
}

/** What is being removed answers ENODEV. */
export function isGone(error: unknown): boolean {
  return ['ENOENT', 'ENODEV'].includes((error as NodeJS.ErrnoException).code ?? '');
}
