import { takeVariable } from '../../runtime/native/environment.ts';
import type { Region } from '../../runtime/native/region.ts';
import { createSecretMemory } from '../../runtime/native/secret-memory.ts';

type Env = Readonly<Record<string, string | undefined>>;

export interface TakenToken {
  /** The token's bytes; undefined where VAULT_TOKEN is not set. */
  readonly token: Region | undefined;
  /** The environment with `*` in place of the token. */
  readonly env: Env;
}

const variable = 'VAULT_TOKEN';

/**
 * Moves VAULT_TOKEN out of the environment before anything makes a string of it. What memory is required is not
 * known yet: every later region is refused where this one should have been.
 */
export function takeToken(): TakenToken {
  if (!Object.hasOwn(process.env, variable)) return { token: undefined, env: process.env };
  const token = takeVariable(variable, createSecretMemory({ requireMemfdSecret: false, requireLock: false }));
  const given = token !== undefined && token.length > 0;
  return { token, env: { ...process.env, ...(given ? { [variable]: '*' } : {}) } };
}
