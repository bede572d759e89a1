import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { VectorFile } from '../../tools/format-vectors/vector-files.ts';

export const vectorFolder = fileURLToPath(new URL('../../vectors/format/', import.meta.url));

/** Instead of a checksum: the kept one does not open. */
export const forgedChecksum = 'record-forged';

export interface NamedVector extends VectorFile {
  /** `read/…` or `refuse/…`, without the ending. */
  readonly name: string;
}

/** The vectors as they lie in their files. */
export function storedVectors(folders: readonly string[] = ['read', 'refuse']): readonly NamedVector[] {
  return folders.flatMap((folder) =>
    readdirSync(`${vectorFolder}${folder}`)
      .sort()
      .map((file) => ({
        name: `${folder}/${file.replace('.json', '')}`,
        ...(JSON.parse(readFileSync(`${vectorFolder}${folder}/${file}`, 'utf8')) as VectorFile),
      })),
  );
}

/** What has to come of a vector, in one line, by a reader that opens the kept checksum. */
export function expected({ expect }: VectorFile, encryptedOnly = false): string {
  if ('refused' in expect) return `refused: ${expect.refused}`;
  if ('checksum' in expect && expect.checksum === forgedChecksum) return `refused: ${forgedChecksum}`;
  if ('plaintext' in expect) return `plaintext ${expect.plaintext}`;
  return encryptedOnly ? 'refused: unencrypted' : `plaintext ${expect.unencrypted}`;
}
