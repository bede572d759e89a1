import { isRecord } from '../../../core/vault/answer.ts';
import { vaultPath } from '../../../core/vault/path.ts';
import { connectionDefaults, type VaultConnection } from '../../../runtime/vault/connection.ts';
import type { VaultRequest } from '../../../runtime/vault/contract.ts';
import { failureOf } from '../../../runtime/vault/failure.ts';
import { createNodeVaultTransport } from '../../../runtime/vault/node-vault-transport.ts';

export interface Administered {
  readonly url: string;
  readonly rootToken: string;
}

/** One who may do everything at a key server. Both operations throw VaultError. */
export interface Administrator {
  /** @returns the parsed body of a success */
  ask(request: VaultRequest): Promise<unknown>;
  /** Writes a policy of that name and hands out a token that has it and no other. */
  issueToken(request: TokenRequest): Promise<string>;
}

export interface TokenRequest {
  readonly name: string;
  readonly policy: PolicyRules;
  /** A Go duration; the server's usual one where absent. */
  readonly ttl?: string;
}

/** Capabilities by path. */
export type PolicyRules = Readonly<Record<string, readonly string[]>>;

/** Works as administrator, and closes the connection when the work is done. */
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

function connectionTo(url: string): VaultConnection {
  return {
    ...connectionDefaults,
    address: new URL(url),
    namespace: undefined,
    tls: { caFiles: [], caPath: undefined, client: undefined },
    skipVerify: false,
    followStandby: false,
  };
}
