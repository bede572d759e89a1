import { readFile } from 'node:fs/promises';
import { VaultError } from './errors.ts';

/**
 * Reads a token from a file, without the white space around it.
 * @throws VaultError of kind `unavailable`: the file may come, or be filled, later
 */
export async function readToken(path: string, what: string): Promise<string> {
  const token = (await read(path, what)).trim();
  if (token === '') throw unusableTokenFile(what, path, 'is empty');
  if (!/^[\x21-\x7e]+$/.test(token)) throw unusableTokenFile(what, path, 'holds something else');
  return token;
}

async function read(path: string, what: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw unusableTokenFile(what, path, `cannot be read (${(cause as NodeJS.ErrnoException).code})`, cause);
  }
}

export function unusableTokenFile(what: string, path: string, fault: string, cause?: unknown): VaultError {
  return new VaultError('unavailable', `The ${what} file ${path} ${fault}`, {
    cause,
    nextStep: `Put one token into ${path}; it is read again at the next attempt.`,
  });
}
