import { basename } from 'node:path';
import { exec } from '../../testbed/exec.ts';
import type { Entry } from './cpio.ts';

const LIBRARIES = '/usr/lib/x86_64-linux-gnu';

/** The shared libraries that host files are linked against, where the loader of the guest looks; none for static ones. */
export async function librariesOf(files: readonly string[]): Promise<Entry[]> {
  const found = await Promise.all(files.map(linkedAgainst));
  return [...new Set(found.flat())].sort().map((file) => ({ path: inGuest(file), file, executable: true }));
}

/** The guest's path of a library of the host. */
export function inGuest(file: string): string {
  return /\/ld-linux-/.test(file) ? `/lib64/${basename(file)}` : `${LIBRARIES}/${basename(file)}`;
}

async function linkedAgainst(file: string): Promise<string[]> {
  const text = await exec('ldd', [file]).catch((error: Error) => {
    if (/not a dynamic executable/.test(error.message)) return '';
    throw error;
  });
  const missing = /^\s*(\S+) => not found/m.exec(text);
  if (missing) throw new Error(`${file} needs the library ${missing[1]}, which this machine does not have`);
  return [...text.matchAll(/(?:=> |^\s+)(\/\S+) \(0x/gm)].map(([, path = '']) => path);
}
