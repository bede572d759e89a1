import { readFile } from 'node:fs/promises';
import { vaultPath } from '../../core/vault/path.ts';
import { dataOf, isRecord, namesDeadToken, serverErrors } from '../../core/vault/transit-messages.ts';
import { secrets } from '../logging/secrets.ts';
import { failureOf, serverReason, VaultError, type VaultResponse, type VaultTransport } from './contract.ts';
import type { VaultAuth } from './settings.ts';

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

type KubernetesAuth = Extract<VaultAuth, { method: 'kubernetes' }>;

/** Exchanges the service account's token, read anew each time because the kubelet replaces it, for one of the key server. */
function kubernetesAuth({ role, mountPath, serviceAccountTokenPath }: KubernetesAuth): AuthMethod {
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

/**
 * Reads a token from a file, without the white space around it.
 * @throws VaultError of kind `unavailable`: the file may come, or be filled, later
 */
async function readToken(path: string, what: string): Promise<string> {
  const token = (await read(path, what)).trim();
  if (token === '') throw unusableTokenFile(what, path, 'is empty');
  if (!/^[\x21-\x7e]+$/.test(token)) throw unusableTokenFile(what, path, 'holds something else');
  return token;
}

async function read(path: string, what: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw unusableTokenFile(what, path, `cannot be read (${(cause as NodeJS.ErrnoException).code})`, cause);
  }
}

export function unusableTokenFile(what: string, path: string, fault: string, cause?: unknown): VaultError {
  return new VaultError('unavailable', `The ${what} file ${path} ${fault}`, {
    cause,
    nextStep: `Put one token into ${path}; it is read again at the next attempt.`,
  });
}

const windowMs = 60_000;

/** At most so many events in any minute. */
export class MinuteLimit {
  readonly #most: number;
  #times: number[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  /** Time in ms until `take` succeeds. */
  waitMs(now = performance.now()): number {
    this.#times = this.#times.filter((time) => time > now - windowMs);
    const oldest = this.#times[this.#times.length - this.#most];
    return oldest === undefined ? 0 : oldest + windowMs - now;
  }

  /** Counts one event where there is room. */
  take(now = performance.now()): boolean {
    if (this.waitMs(now) > 0) return false;
    this.#times.push(now);
    return true;
  }
}
