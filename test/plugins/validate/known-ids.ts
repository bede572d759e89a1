import { readFileSync } from 'node:fs';

export const idsFile = new URL('ids.txt', import.meta.url);

export interface KnownId {
  readonly id: string;
  /** There is no such check any more, and never will be again. */
  readonly retired: boolean;
}

/** Every id that was ever given, a line each: the id, and `retired` behind it where its check has gone. */
export function knownIds(): readonly KnownId[] {
  const lines = readFileSync(idsFile, 'utf8').trimEnd().split('\n');
  return lines.map((line) => {
    const [id = '', word] = line.split(' ');
    return { id, retired: word === 'retired' };
  });
}
