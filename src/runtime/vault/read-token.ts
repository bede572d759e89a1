import { readFile } from 'node:fs/promises';
import { VaultError } from './errors.ts';

/**
 * Reads a token from a file, without the white space around it.
 * @throws VaultError of kind `unavailable`: the file may come, or be filled, later
 */
export async function readToken(path: string, what: string): Promise<string> {
  const token = (await read(path, what)).trim();
  if (token === '') throw unusable(what, path, 'is empty');
  if (!/^[\x21-\x7e]+$/.test(token)) throw unusable(what, path, 'holds something else');
  return token;
}

async function read(path: string, what: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw unusable(what, path, `cannot be read (${(cause as NodeJS.ErrnoException).code})`);
  }
}

function unusable(what: string, path: string, fault: string): VaultError {
  return new VaultError('unavailable', `The ${what} file ${path} ${fault}`, {
    nextStep: `Put one token into ${path}; it is read again at the next attempt.`,
  });
}
