import type { Secrets, SecretTokens } from '../keys/set-up-secrets.ts';

/** Secrets in a key server, and who may do what with them. */
export interface SecretsSource {
  /** URL without a slash at the end. */
  readonly keyServer: string;
  readonly secrets: Secrets;
  readonly tokens: SecretTokens;
}

export const valuesOf = (secrets: Secrets): string[] =>
  Object.values(secrets).flatMap((fields) => Object.values(fields));

export const fieldsOf = (secrets: Secrets): string[] =>
  Object.values(secrets).flatMap((fields) => Object.keys(fields));
