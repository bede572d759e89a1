import { dataPath } from '../keys/set-up-secrets.ts';
import { changing } from './example-secrets.ts';
import type { SecretsSource } from './secrets-source.ts';

/** Shell lines that work as they stand. */
export interface WrappedTryLines {
  /** Writes a new version of one of the demo's secrets. */
  readonly change: string;
  /** Shows the secrets that the demo has. */
  readonly see: string;
}

export function wrappedTryLines({ keyServer, tokens }: SecretsSource, demo: string): WrappedTryLines {
  const body = JSON.stringify({ data: { [changing.field]: 'v3-by-hand' } });
  const url = `${keyServer}/v1/${dataPath(changing.name)}`;
  return {
    change: `curl -s -H 'X-Vault-Token: ${tokens.writer}' -d '${body}' ${url}`,
    see: `curl -s ${demo}/protected`,
  };
}
