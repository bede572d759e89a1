import { secrets } from '../../../runtime/logging/secrets.ts';
import { authMethodFor } from '../../../runtime/vault/auth.ts';
import type { VaultAuth } from '../../../runtime/vault/config.ts';
import type { VaultTransport } from '../../../runtime/vault/contract.ts';
import type { VaultSession } from './contract.ts';

export interface OpenSession extends VaultSession {
  readonly token: string;
  /** Gives the token back where it was obtained by this login; what was given stays. */
  end(): Promise<void>;
}

/** @throws VaultError `denied` where the secrets server refuses it, `unavailable`; SvcError for a file that cannot be read */
export async function logIn(
  auth: VaultAuth,
  transport: VaultTransport,
  signal: AbortSignal,
): Promise<OpenSession> {
  const { token } = await authMethodFor(auth).logIn(transport, signal);
  const forget = secrets.register(token);
  return {
    token,
    ask: (query, asking) => transport.send({ ...query, token, signal: asking }),
    async end() {
      if (auth.method === 'kubernetes') await giveBack(transport, token);
      forget();
    },
  };
}

/** A policy may forbid it; then the token ends with its lease. */
async function giveBack(transport: VaultTransport, token: string): Promise<void> {
  const path = 'auth/token/revoke-self';
  await transport.send({ method: 'POST', path, token, timeoutMs: 2_000 }).catch(() => undefined);
}
