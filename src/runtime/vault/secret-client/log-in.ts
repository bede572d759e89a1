import { decodeString } from '../../../core/json-bytes/decode-string.ts';
import { escapedRuns } from '../../../core/json-bytes/encode-string.ts';
import { JsonView } from '../../../core/json-bytes/json-view.ts';
import { namesDeadToken } from '../../../core/vault/answer.ts';
import { vaultPath } from '../../../core/vault/path.ts';
import type { SecretMemory } from '../../native/secret-memory.ts';
import { loginRefusal } from '../auth-kubernetes.ts';
import type { VaultAuth } from '../config.ts';
import { VaultError } from '../errors.ts';
import type { Lease, RenewedLease } from './contract.ts';
import type { KeyServer, Question, Reply } from './key-server.ts';
import { deadToken, refusalOf, wordsOf } from './refusal.ts';
import { readTokenBytes, type TokenBytes, tokenFrom } from './token-bytes.ts';

/** A token that the key server has just handed out. */
export interface Grant extends RenewedLease {
  readonly token: TokenBytes;
}

export type KubernetesAuth = Extract<VaultAuth, { method: 'kubernetes' }>;

const lookupPath = 'auth/token/lookup-self';
const renewPath = 'auth/token/renew-self';

/** Exchanges the service account's token, read anew each time because the kubelet replaces it. */
export async function logInByServiceAccount(
  server: KeyServer,
  { role, mountPath, serviceAccountTokenPath }: KubernetesAuth,
  memory: SecretMemory,
  signal: AbortSignal,
): Promise<Grant> {
  const jwt = readTokenBytes(serviceAccountTokenPath, 'service account token', memory);
  const path = vaultPath(mountPath, 'login');
  const start = Buffer.from(`{"role":${JSON.stringify(role)},"jwt":"`);
  try {
    const body = [start, ...escapedRuns(jwt.bytes), Buffer.from('"}')];
    return await server.ask({ method: 'POST', path, body }, signal, (reply) => {
      if (reply.status === 200) return grantFrom(reply, path, memory);
      const errors = wordsOf(reply, jwt.bytes);
      throw loginRefusal(path, role, { status: reply.status, body: { errors } });
    });
  } finally {
    jwt.release();
  }
}

/**
 * Looks a token up. A policy may forbid that, and then its end stays unknown until a renewal tells it.
 * @throws VaultError of kind `denied` where the key server does not know the token
 */
export function lookUp(server: KeyServer, token: () => Uint8Array, signal: AbortSignal): Promise<Lease> {
  const question: Question = { method: 'GET', path: lookupPath, token };
  return server.ask(question, signal, (reply) => {
    if (reply.status === 200) return lifetimeFrom(new JsonView(reply.body.bytes));
    const errors = wordsOf(reply, token());
    if (reply.status !== 403) throw refusalOf(question, reply.status, errors);
    if (namesDeadToken(errors)) throw deadToken(reply.status, lookupPath);
    return { leaseSeconds: undefined, renewable: true };
  });
}

/** `ttl` counts whole seconds, 0 for a token without an end, which has no `expire_time` either. */
function lifetimeFrom(view: JsonView): Lease {
  const seconds = view.number('data', 'ttl') ?? 0;
  const ends = view.at('data', 'expire_time')?.kind === 'string';
  return { leaseSeconds: ends ? Math.max(1, seconds) : seconds, renewable: view.isTrue('data', 'renewable') };
}

/** @throws VaultError: `denied` where the policy does not permit it, `rejected` where the token cannot be renewed */
export function renewToken(
  server: KeyServer,
  token: () => Uint8Array,
  memory: SecretMemory,
  signal: AbortSignal,
): Promise<Grant> {
  const question: Question = { method: 'POST', path: renewPath, body: [Buffer.from('{}')], token };
  return server.ask(question, signal, (reply) => {
    if (reply.status === 200) return grantFrom(reply, renewPath, memory);
    throw refusalOf(question, reply.status, wordsOf(reply, token()));
  });
}

/** The token is decoded in its place and copied into memory of its own. */
function grantFrom({ body: { bytes } }: Reply, path: string, memory: SecretMemory): Grant {
  const view = new JsonView(bytes);
  const found = view.at('auth', 'client_token');
  const leaseSeconds = view.number('auth', 'lease_duration');
  const renewable = view.isTrue('auth', 'renewable');
  if (found?.kind !== 'string' || leaseSeconds === undefined) throw withoutToken(path);
  const place = bytes.subarray(found.start);
  const token = tokenFrom(place.subarray(0, decodeString(bytes, found.start, found.end, place)), memory);
  if (token.fault === undefined) return { token, leaseSeconds, renewable };
  token.release();
  throw withoutToken(path);
}

const withoutToken = (path: string): VaultError =>
  new VaultError('unavailable', `The key server answered ${path} without a token`, { path });
