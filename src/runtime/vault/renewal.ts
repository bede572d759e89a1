import { grantFrom, type TokenGrant } from './auth-method.ts';
import type { VaultTransport } from './contract.ts';
import { failureOf } from './failure.ts';

const path = 'auth/token/renew-self';
const longestTimerMs = 2 ** 31 - 1;

/** When a token is renewed or replaced: after about two thirds of its life, spread so that many clients do not come at once. */
export function renewalDelayMs(leaseSeconds: number): number {
  const fraction = 0.6 + Math.random() * 0.13;
  return Math.min(longestTimerMs, Math.max(500, leaseSeconds * 1000 * fraction));
}

/** @throws VaultError: `denied` where the policy does not permit it, `rejected` where the token cannot be renewed */
export async function renewToken(
  transport: VaultTransport,
  token: string,
  signal: AbortSignal,
): Promise<TokenGrant> {
  const response = await transport.send({ method: 'POST', path, body: {}, token, signal });
  if (response.status !== 200) throw failureOf({ method: 'POST', path }, response);
  return grantFrom(response.body, path);
}
