import { dataOf, namesDeadToken, serverErrors } from '../../core/vault/answer.ts';
import { kubernetesAuth } from './auth-kubernetes.ts';
import type { AuthMethod, TokenGrant } from './auth-method.ts';
import type { VaultAuth } from './config.ts';
import type { VaultResponse, VaultTransport } from './contract.ts';
import { VaultError } from './errors.ts';
import { failureOf } from './failure.ts';
import { readToken } from './read-token.ts';

export function authMethodFor(auth: VaultAuth): AuthMethod {
  switch (auth.method) {
    case 'kubernetes':
      return kubernetesAuth(auth);
    case 'token-file':
      return tokenFileAuth(auth.path);
    case 'token':
      return tokenAuth(auth.token);
  }
}

/** A token that somebody else keeps fresh in a file, which is read again at each login. */
function tokenFileAuth(path: string): AuthMethod {
  return {
    name: 'token-file',
    logIn: async (transport, signal) => adoptToken(await readToken(path, 'token'), transport, signal),
  };
}

const lookupPath = 'auth/token/lookup-self';

/** A token that was given once: logging in again can only find out whether it still works. */
function tokenAuth(token: string): AuthMethod {
  return { name: 'token', logIn: (transport, signal) => adoptToken(token, transport, signal) };
}

/**
 * Looks a given token up. A policy may forbid that, and then its end stays unknown.
 * @throws VaultError of kind `denied` where the key server does not know the token
 */
async function adoptToken(
  token: string,
  transport: VaultTransport,
  signal: AbortSignal,
): Promise<TokenGrant> {
  const response = await transport.send({ method: 'GET', path: lookupPath, token, signal });
  if (response.status === 200) return { token, ...lifetime(response.body) };
  if (response.status !== 403) throw failureOf({ method: 'GET', path: lookupPath }, response);
  if (namesDeadToken(serverErrors(response.body))) throw deadToken(response);
  return { token, leaseSeconds: 0, renewable: false };
}

/** `ttl` counts whole seconds, 0 for a token without an end, which has no `expire_time` either. */
function lifetime(body: unknown): Omit<TokenGrant, 'token'> {
  const { ttl, expire_time: end, renewable } = dataOf(body);
  const seconds = typeof ttl === 'number' ? ttl : 0;
  return {
    leaseSeconds: typeof end === 'string' ? Math.max(1, seconds) : seconds,
    renewable: renewable === true,
  };
}

const deadToken = ({ status }: VaultResponse): VaultError =>
  new VaultError(
    'denied',
    'The key server does not accept the token: it is wrong, has expired or was revoked',
    {
      status,
      path: lookupPath,
      nextStep: 'Give a valid token by VAULT_TOKEN_FILE or VAULT_TOKEN.',
    },
  );
