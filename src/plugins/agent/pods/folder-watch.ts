import { type FSWatcher, watch } from 'node:fs';
import type { Folder } from './folders.ts';

/** Tells at once when folders come and go in a set of folders. */
export interface FolderWatch {
  /** From now on these. One that was removed and made again is another. */
  set(folders: readonly Folder[]): void;
  close(): void;
}

/** What cannot be watched is left out: whoever asks looks from time to time besides. */
export function watchFolders(onChange: () => void): FolderWatch {
  const watchers = new Map<bigint, FSWatcher>();
  const drop = (id: bigint) => {
    watchers.get(id)?.close();
    watchers.delete(id);
  };
  const add = ({ path, id }: Folder) => {
    try {
      const watcher = watch(path, (event) => {
        if (event === 'rename') onChange();
      });
      watcher.on('error', () => drop(id));
      watchers.set(id, watcher);
    } catch {
      // gone, or the user's inotify instances are used up
    }
  };
  return {
    set(folders) {
      const wanted = new Set(folders.map(({ id }) => id));
      for (const id of [...watchers.keys()]) if (!wanted.has(id)) drop(id);
      for (const folder of folders) if (!watchers.has(folder.id)) add(folder);
    },
    close() {
      for (const id of [...watchers.keys()]) drop(id);
    },
  };
}
