import type { AuthMethod } from './auth-method.ts';
import { adoptToken } from './auth-token.ts';
import { readToken } from './read-token.ts';

/** A token that somebody else keeps fresh in a file, which is read again at each login. */
export function tokenFileAuth(path: string): AuthMethod {
  return {
    name: 'token-file',
    logIn: async (transport, signal) => adoptToken(await readToken(path, 'token'), transport, signal),
  };
}
