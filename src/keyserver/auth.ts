import { readFile } from 'node:fs/promises';
import { secrets } from '../runtime/logging/secrets.ts';
import { refusalOf, type VaultResponse, type VaultTransport } from './contract.ts';
import {
  type AnswerFields,
  grantedLease,
  loginRefusal,
  loginRequest,
  lookedUp,
  lookUpRequest,
  renewRequest,
  tokenInFile,
  unreadableTokenFile,
  withoutToken,
} from './logins.ts';
import type { VaultAuth } from './settings.ts';
import { isRecord, serverErrors } from './transit-messages.ts';

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

/** A token and its lifetime. */
export interface TokenGrant {
  readonly token: string;
  /** 0 if the token has no end, or none that may be looked up. */
  readonly leaseSeconds: number;
  readonly renewable: boolean;
}

/** One way to obtain a token; `logIn` may be called repeatedly. */
export interface AuthMethod {
  readonly name: VaultAuth['method'];
  /** @throws VaultError: `denied` if the key server refuses, `unavailable` for anything that may be temporary */
  logIn(transport: VaultTransport, signal: AbortSignal): Promise<TokenGrant>;
}

/** A token in a file that somebody else renews; the file is read at each login. */
function tokenFileAuth(path: string): AuthMethod {
  return {
    name: 'token-file',
    logIn: async (transport, signal) => adoptToken(await readToken(path, 'token'), transport, signal),
  };
}

/** A given token: logging in again can only find out whether it still works. */
function tokenAuth(token: string): AuthMethod {
  return { name: 'token', logIn: (transport, signal) => adoptToken(token, transport, signal) };
}

/** A token that may not look itself up is used until it is refused. */
async function adoptToken(
  token: string,
  transport: VaultTransport,
  signal: AbortSignal,
): Promise<TokenGrant> {
  const response = await transport.send({ ...lookUpRequest, token, signal });
  const lease = lookedUp({
    status: response.status,
    fields: () => fieldsOf(response),
    errors: () => serverErrors(response.body),
  });
  if (lease.leaseSeconds === undefined) return { token, leaseSeconds: 0, renewable: false };
  return { token, leaseSeconds: lease.leaseSeconds, renewable: lease.renewable };
}

type KubernetesAuth = Extract<VaultAuth, { method: 'kubernetes' }>;

/**
 * Exchanges the service account's token for one of the key server; the former is read each time, because the kubelet
 * replaces it.
 */
function kubernetesAuth({ role, mountPath, serviceAccountTokenPath }: KubernetesAuth): AuthMethod {
  const request = loginRequest(mountPath);
  return {
    name: 'kubernetes',
    async logIn(transport, signal): Promise<TokenGrant> {
      const jwt = await readToken(serviceAccountTokenPath, 'service account token');
      const forget = secrets.register(jwt);
      try {
        const response = await transport.send({ ...request, body: { role, jwt }, signal });
        if (response.status === 200) return grantFrom(response, request.path);
        throw loginRefusal(request.path, role, response.status, serverErrors(response.body));
      } finally {
        forget();
      }
    },
  };
}

/** @throws VaultError: `denied` if the policy does not permit it, `rejected` if the token cannot be renewed */
export async function renewToken(
  transport: VaultTransport,
  token: string,
  signal: AbortSignal,
): Promise<TokenGrant> {
  const response = await transport.send({ ...renewRequest, body: {}, token, signal });
  if (response.status === 200) return grantFrom(response, renewRequest.path);
  throw refusalOf(renewRequest, response.status, serverErrors(response.body));
}

function grantFrom(response: VaultResponse, path: string): TokenGrant {
  const fields = fieldsOf(response);
  const token = fields.string('auth', 'client_token');
  if (!token) throw withoutToken(path);
  return { token, ...grantedLease(fields, path) };
}

/** Reads members of a parsed answer. */
export function fieldsOf({ body }: Pick<VaultResponse, 'body'>): AnswerFields {
  const at = (names: readonly string[]) =>
    names.reduce<unknown>((found, name) => (isRecord(found) ? found[name] : undefined), body);
  return {
    string(...names) {
      const value = at(names);
      return typeof value === 'string' ? value : undefined;
    },
    number(...names) {
      const value = at(names);
      return typeof value === 'number' ? value : undefined;
    },
    isTrue: (...names) => at(names) === true,
  };
}

/**
 * Reads a token from a file.
 * @throws VaultError of kind `unavailable`, because the file may appear or be filled later
 */
async function readToken(path: string, what: string): Promise<string> {
  const bytes = await readFile(path).catch((cause) => {
    throw unreadableTokenFile(what, path, cause);
  });
  const token = tokenInFile({ bytes, release: () => bytes.fill(0) }, path, what);
  try {
    return token.bytes.toString('latin1');
  } finally {
    token.release();
  }
}
