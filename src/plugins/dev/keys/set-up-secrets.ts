import { vaultPath } from '../../../core/vault/path.ts';
import { type Administered, asAdministrator } from './administrator.ts';
import { kvMount } from './kv/kv-store.ts';

/** Values by field, by the secret's name below `secret/`, such as `demo/db`. */
export type Secrets = Readonly<Record<string, Readonly<Record<string, string>>>>;

export interface SecretsSetUp extends Administered {
  readonly secrets: Secrets;
}

export interface SecretTokens {
  /** For an application: may read the secrets and renew itself. */
  readonly reader: string;
  /** For a person: may write new versions of the secrets. */
  readonly writer: string;
}

const reading = ['read'];
const writing = ['create', 'read', 'update'];

/** Writes secrets into KV version 2 at `secret/`, and hands out tokens for them. @throws VaultError */
export function setUpSecrets({ secrets, ...server }: SecretsSetUp): Promise<SecretTokens> {
  return asAdministrator(server, async ({ ask, issueToken }) => {
    for (const [name, data] of Object.entries(secrets))
      await ask({ method: 'POST', path: dataPath(name), body: { data } });
    const paths = Object.keys(secrets).map(dataPath);
    const rules = (capabilities: readonly string[]) => paths.map((path) => [path, capabilities] as const);
    const own = { 'auth/token/lookup-self': reading, 'auth/token/renew-self': ['update'] };
    const reader = { ...Object.fromEntries(rules(reading)), ...own };
    const writer = Object.fromEntries(rules(writing));
    return {
      reader: await issueToken({ name: 'svc-demo-reader', policy: reader, ttl: '1h' }),
      writer: await issueToken({ name: 'svc-demo-writer', policy: writer }),
    };
  });
}

/** Where the API has the versions of a secret, below `/v1/`. */
export const dataPath = (name: string): string => vaultPath(kvMount, 'data', ...name.split('/'));
