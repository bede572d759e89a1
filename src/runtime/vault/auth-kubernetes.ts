import { vaultPath } from '../../core/vault/path.ts';
import { secrets } from '../logging/secrets.ts';
import { type AuthMethod, grantFrom, type TokenGrant } from './auth-method.ts';
import type { VaultAuth } from './config.ts';
import type { VaultResponse, VaultTransport } from './contract.ts';
import { VaultError } from './errors.ts';
import { failureOf, serverReason } from './failure.ts';
import { readToken } from './read-token.ts';

type KubernetesAuth = Extract<VaultAuth, { method: 'kubernetes' }>;

/** Exchanges the service account's token, read anew each time because the kubelet replaces it, for one of the key server. */
export function kubernetesAuth({ role, mountPath, serviceAccountTokenPath }: KubernetesAuth): AuthMethod {
  const path = vaultPath(mountPath, 'login');
  return {
    name: 'kubernetes',
    async logIn(transport, signal): Promise<TokenGrant> {
      const jwt = await readToken(serviceAccountTokenPath, 'service account token');
      const forget = secrets.register(jwt);
      try {
        return granted(path, role, await post(transport, path, { role, jwt }, signal));
      } finally {
        forget();
      }
    },
  };
}

const post = (transport: VaultTransport, path: string, body: unknown, signal: AbortSignal) =>
  transport.send({ method: 'POST', path, body, signal });

function granted(path: string, role: string, response: VaultResponse): TokenGrant {
  if (response.status !== 200) throw loginRefusal(path, role, response);
  return grantFrom(response.body, path);
}

/** An unknown role is a 400, a foreign service account a 403, an absent mount a 403 or 404. */
export function loginRefusal(path: string, role: string, response: VaultResponse): VaultError {
  const failure = failureOf({ method: 'POST', path }, response);
  if (failure.kind === 'unavailable') return failure;
  const reason = serverReason(response.body);
  return new VaultError('denied', `The key server refuses the login at ${path} as role ${role}: ${reason}`, {
    status: response.status,
    path,
    nextStep:
      'Check VAULT_AUTH_ROLE and VAULT_AUTH_MOUNT_PATH, and that the role is bound to this service account.',
  });
}
