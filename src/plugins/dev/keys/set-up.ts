import { isRecord } from '../../../core/vault/answer.ts';
import { vaultPath } from '../../../core/vault/path.ts';
import { connectionDefaults, type VaultConnection } from '../../../runtime/vault/connection.ts';
import type { VaultRequest, VaultTransport } from '../../../runtime/vault/contract.ts';
import { failureOf } from '../../../runtime/vault/failure.ts';
import { createNodeVaultTransport } from '../../../runtime/vault/node-vault-transport.ts';

export interface SetUp {
  readonly url: string;
  readonly rootToken: string;
  readonly mount: string;
  readonly keyName: string;
}

/**
 * What an administrator does once: mounts transit, creates the key, and hands out a token that may
 * update the two transit paths and nothing else. Repeating it changes nothing.
 * @returns that token
 * @throws VaultError
 */
export async function setUpTransit({ url, rootToken, mount, keyName }: SetUp): Promise<string> {
  const transport = await createNodeVaultTransport(connectionTo(url));
  const ask = askAs(rootToken, transport);
  try {
    if (!(await isMounted(ask, mount)))
      await ask({ method: 'POST', path: `sys/mounts/${vaultPath(mount)}`, body: { type: 'transit' } });
    await ask({ method: 'POST', path: vaultPath(mount, 'keys', keyName), body: {} });
    return await issueToken(ask, mount, keyName);
  } finally {
    transport.close();
  }
}

type Ask = (request: VaultRequest) => Promise<unknown>;

const askAs =
  (token: string, transport: VaultTransport): Ask =>
  async (request) => {
    const response = await transport.send({ ...request, token });
    if (response.status >= 300) throw failureOf(request, response);
    return response.body;
  };

async function isMounted(ask: Ask, mount: string): Promise<boolean> {
  const body = await ask({ method: 'GET', path: 'sys/mounts' });
  const data = isRecord(body) ? body['data'] : undefined;
  return isRecord(data) && `${mount}/` in data;
}

async function issueToken(ask: Ask, mount: string, keyName: string): Promise<string> {
  const name = `svc-proxy-${keyName}`;
  const paths = ['encrypt', 'decrypt'].map((operation) => vaultPath(mount, operation, keyName));
  const policy = paths.map((path) => `path "${path}" { capabilities = ["update"] }\n`).join('');
  await ask({ method: 'PUT', path: vaultPath('sys/policies/acl', name), body: { policy } });
  const body = await ask({
    method: 'POST',
    path: 'auth/token/create',
    body: { policies: [name], no_default_policy: true },
  });
  const auth = isRecord(body) ? body['auth'] : undefined;
  return String(isRecord(auth) ? auth['client_token'] : '');
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
