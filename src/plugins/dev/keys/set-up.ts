import { randomBytes } from 'node:crypto';
import { isRecord } from '../../../keyserver/answers.ts';
import { type VaultConnectionSettings, vaultConnection } from '../../../keyserver/connection.ts';
import { failureOf, type VaultRequest } from '../../../keyserver/contract.ts';
import { createNodeVaultTransport } from '../../../keyserver/node-vault-transport.ts';
import { vaultPath } from '../../../keyserver/path.ts';
import { kvMount } from './kv-store.ts';

export interface Administered {
  readonly url: string;
  readonly rootToken: string;
}

/** Access to a key server as its administrator. Both operations throw VaultError. */
export interface Administrator {
  /** @returns the parsed body of a success */
  ask(request: VaultRequest): Promise<unknown>;
  /** Writes a policy with the request's name and issues a token with only this policy. */
  issueToken(request: TokenRequest): Promise<string>;
}

export interface TokenRequest {
  readonly name: string;
  readonly policy: PolicyRules;
  /** A Go duration; default: the server's. */
  readonly ttl?: string;
}

/** Capabilities by path. */
export type PolicyRules = Readonly<Record<string, readonly string[]>>;

/** Runs `work` as administrator, and closes the connection afterwards. */
export async function asAdministrator<T>(
  { url, rootToken }: Administered,
  work: (administrator: Administrator) => Promise<T>,
): Promise<T> {
  const transport = await createNodeVaultTransport(connectionTo(url));
  const ask: Administrator['ask'] = async (request) => {
    const response = await transport.send({ ...request, token: rootToken });
    if (response.status >= 300) throw failureOf(request, response);
    return response.body;
  };
  try {
    return await work({ ask, issueToken: (request) => issueToken(ask, request) });
  } finally {
    transport.close();
  }
}

async function issueToken(ask: Administrator['ask'], { name, policy, ttl }: TokenRequest): Promise<string> {
  await ask({
    method: 'PUT',
    path: vaultPath('sys/policies/acl', name),
    body: { policy: textOf(policy) },
  });
  const body = await ask({
    method: 'POST',
    path: 'auth/token/create',
    body: { policies: [name], no_default_policy: true, ...(ttl === undefined ? {} : { ttl }) },
  });
  const auth = isRecord(body) ? body['auth'] : undefined;
  return String(isRecord(auth) ? auth['client_token'] : '');
}

function textOf(policy: PolicyRules): string {
  const rules = Object.entries(policy).map(
    ([path, capabilities]) => `path "${path}" { capabilities = ${JSON.stringify(capabilities)} }\n`,
  );
  return rules.join('');
}

function connectionTo(address: string): VaultConnectionSettings {
  const url = new URL(address);
  const endpoint = { url, skipVerify: false, caFiles: [], caPath: undefined, client: undefined };
  return vaultConnection({ endpoint, namespace: undefined }, 'dev');
}

/** Values by field, by the secret's name below `secret/`, such as `demo/db`. */
type Secrets = Readonly<Record<string, Readonly<Record<string, string>>>>;

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

/** Writes secrets into KV version 2 at `secret/`, and issues tokens for them. @throws VaultError */
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

/** API path of a secret's versions, below `/v1/`. */
export const dataPath = (name: string): string => vaultPath(kvMount, 'data', ...name.split('/'));

/** Secrets in a secrets server, and the tokens for them. */
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

/** The secret that changes to show rotation; it has only one field, so a new version loses none. */
export const changing = { name: 'demo/api', field: 'API_KEY' } as const;

const text = (bytes: number): string => randomBytes(bytes).toString('base64url');

/** Two secrets, random at each call. */
export const exampleSecrets = (): Secrets => ({
  'demo/db': { DB_USER: `app-${randomBytes(4).toString('hex')}`, DB_PASSWORD: text(18) },
  [changing.name]: { [changing.field]: `v1-${text(18)}` },
});

/** For the second version; its first characters, which the demo shows, differ. */
export const changedValue = (): string => `v2-${text(18)}`;
