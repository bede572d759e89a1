import { isRecord } from '../../core/vault/answer.ts';
import type { VaultAuth } from './config.ts';
import type { VaultTransport } from './contract.ts';
import { VaultError } from './errors.ts';

/** A token and how long it lasts. */
export interface TokenGrant {
  readonly token: string;
  /** 0 where it has no end, or none that may be looked up. */
  readonly leaseSeconds: number;
  readonly renewable: boolean;
}

/** One way to a token; `logIn` may be called again and again. */
export interface AuthMethod {
  readonly name: VaultAuth['method'];
  /** @throws VaultError: `denied` where the key server refuses, `unavailable` for anything that may pass */
  logIn(transport: VaultTransport, signal: AbortSignal): Promise<TokenGrant>;
}

/** Reads the `auth` of a login's or renewal's answer. */
export function grantFrom(body: unknown, path: string): TokenGrant {
  const auth = isRecord(body) && isRecord(body['auth']) ? body['auth'] : {};
  const { client_token: token, lease_duration: lease, renewable } = auth;
  if (typeof token !== 'string' || token === '' || typeof lease !== 'number') {
    throw new VaultError('unavailable', `The key server answered ${path} without a token`, { path });
  }
  return { token, leaseSeconds: lease, renewable: renewable === true };
}
