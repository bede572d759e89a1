import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Place } from './search.ts';

/** Every regular file in these folders, by path and with its content. */
export function filesIn(...folders: readonly string[]): Place[] {
  return folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => ({ name: path, bytes: readFileSync(path) })),
  );
}

export interface OpenFile extends Place {
  /** Permission bits. */
  readonly mode: number;
  /** Names that it still has. */
  readonly links: number;
}

/** Files that a process has open and whose name, or former name, matches. */
export function openFiles(pid: number, name: RegExp): OpenFile[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((number) => {
    const path = `/proc/${pid}/fd/${number}`;
    try {
      const target = readlinkSync(path);
      if (!name.test(target)) return [];
      const { mode, nlink } = statSync(path);
      return [{ name: target, bytes: readFileSync(path), mode: mode & 0o777, links: nlink }];
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
  });
}
