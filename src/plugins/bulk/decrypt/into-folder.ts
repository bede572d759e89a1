import type { StoredEntry } from '../engine/list-objects.ts';
import type { DecryptedObject, Place } from './journal.ts';
import { isSame, type Target, type TargetPage } from './target.ts';
import { openJournal, TargetFolder } from './target-folder.ts';

/** @throws SvcError DECRYPT_FOLDER */
export function intoFolder(path: string, place: Place): Target {
  const folder = TargetFolder.open(path, place);
  return {
    page: async (objects) => folderPage(folder, await folder.journal.of(objects.map(({ key }) => key))),
    close: (whole) => folder.close(whole),
  };
}

function folderPage(folder: TargetFolder, known: ReadonlyMap<string, DecryptedObject>): TargetPage {
  const keepEarlier = ({ key }: StoredEntry) => {
    const earlier = known.get(key);
    if (earlier !== undefined) folder.journal.add(earlier);
  };
  return {
    keepEarlier,
    async has(object) {
      const earlier = known.get(object.key);
      if (earlier === undefined || !isSame(earlier, object) || !folder.holds(earlier)) return false;
      keepEarlier(object);
      return true;
    },
    async take(object, { etag, chunks }) {
      const { key } = object;
      const written = await folder.write(chunks);
      const path = folder.place(key, written, known.get(key)?.path);
      folder.journal.add({ ...object, etag, bytes: written.bytes, path });
      return { bytes: written.bytes, ...(!folder.isPlain(key, path) && { renamed: path }) };
    },
  };
}

/** A folder for a dry run, which writes nothing. */
export function lookIntoFolder(path: string, place: Place): Target {
  const before = openJournal(path, place);
  return {
    async page(objects) {
      const known = await before?.journal.of(objects.map(({ key }) => key));
      return {
        keepEarlier: () => undefined,
        async has(object) {
          const earlier = known?.get(object.key);
          return earlier !== undefined && isSame(earlier, object) && before?.holds(earlier) === true;
        },
        take: () => Promise.reject(new TypeError('nothing is written in a dry run')),
      };
    },
    close: () => before?.journal.close(false),
  };
}
