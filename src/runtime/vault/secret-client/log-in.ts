import { closeSync, openSync, readSync } from 'node:fs';
import { decodeString } from '../../../core/json-document.ts';
import { escapedRuns, JsonView } from '../../../core/json-view.ts';
import type { SecretMemory } from '../../native/secret-memory.ts';
import { refusalOf } from '../contract.ts';
import {
  grantedLease,
  loginRefusal,
  loginRequest,
  lookedUp,
  lookUpRequest,
  type RenewedLease,
  renewRequest,
  TokenBytes,
  type TokenLease,
  tokenInFile,
  unreadableTokenFile,
  withoutToken,
} from '../logins.ts';
import type { VaultAuth } from '../settings.ts';
import { type SecretReply, type SecretRequest, type SecretsServer, wordsOf } from './contract.ts';
import { SecretBuffer } from './secret-socket.ts';

/** A token that the key server has just handed out. */
export interface LoginGrant extends RenewedLease {
  readonly token: TokenBytes;
}

export type KubernetesAuth = Extract<VaultAuth, { method: 'kubernetes' }>;

/** Exchanges the service account's token, read anew each time because the kubelet replaces it. */
export async function logInByServiceAccount(
  server: SecretsServer,
  { role, mountPath, serviceAccountTokenPath }: KubernetesAuth,
  memory: SecretMemory,
  signal: AbortSignal,
): Promise<LoginGrant> {
  const jwt = readTokenBytes(serviceAccountTokenPath, 'service account token', memory);
  const { method, path } = loginRequest(mountPath);
  const start = Buffer.from(`{"role":${JSON.stringify(role)},"jwt":"`);
  try {
    const body = [start, ...escapedRuns(jwt.bytes), Buffer.from('"}')];
    return await server.ask({ method, path, body }, signal, (reply) => {
      if (reply.status === 200) return grantFrom(reply, path, memory);
      throw loginRefusal(path, role, reply.status, wordsOf(reply, jwt.bytes));
    });
  } finally {
    jwt.release();
  }
}

/** @throws VaultError of kind `denied` where the key server does not know the token */
export function lookUp(
  server: SecretsServer,
  token: () => Uint8Array,
  signal: AbortSignal,
): Promise<TokenLease> {
  return server.ask({ ...lookUpRequest, token }, signal, (reply) =>
    lookedUp({
      status: reply.status,
      fields: () => new JsonView(reply.body.bytes),
      errors: () => wordsOf(reply, token()),
    }),
  );
}

/** @throws VaultError: `denied` where the policy does not permit it, `rejected` where the token cannot be renewed */
export function renewToken(
  server: SecretsServer,
  token: () => Uint8Array,
  memory: SecretMemory,
  signal: AbortSignal,
): Promise<LoginGrant> {
  const request: SecretRequest = { ...renewRequest, body: [Buffer.from('{}')], token };
  return server.ask(request, signal, (reply) => {
    if (reply.status === 200) return grantFrom(reply, request.path, memory);
    throw refusalOf(request, reply.status, wordsOf(reply, token()));
  });
}

/** The token is decoded in its place and copied into memory of its own. */
function grantFrom({ body: { bytes } }: SecretReply, path: string, memory: SecretMemory): LoginGrant {
  const view = new JsonView(bytes);
  const found = view.at('auth', 'client_token');
  if (found?.kind !== 'string') throw withoutToken(path);
  const lease = grantedLease(view, path);
  const place = bytes.subarray(found.start);
  const token = tokenFrom(place.subarray(0, decodeString(bytes, found.start, found.end, place)), memory);
  if (token.fault === undefined) return { token, ...lease };
  token.release();
  throw withoutToken(path);
}

const maxTokenBytes = 64 * 1024;

/** @param bytes are copied */
export function tokenFrom(bytes: Uint8Array, memory: SecretMemory): TokenBytes {
  const buffer = new SecretBuffer(memory);
  buffer.append(bytes);
  return new TokenBytes(buffer);
}

/**
 * Reads a token from a file straight into secret memory.
 * @throws VaultError of kind `unavailable`: the file may come, or be filled, later
 */
export function readTokenBytes(path: string, what: string, memory: SecretMemory): TokenBytes {
  const buffer = new SecretBuffer(memory);
  try {
    readInto(buffer, path);
  } catch (error) {
    buffer.release();
    throw unreadableTokenFile(what, path, error);
  }
  return tokenInFile(buffer, path, what);
}

function readInto(buffer: SecretBuffer, path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    while (buffer.appendFrom((into) => readSync(descriptor, into)) > 0) {
      if (buffer.bytes.length > maxTokenBytes) throw Object.assign(new Error(), { code: 'EFBIG' });
    }
  } finally {
    closeSync(descriptor);
  }
}
