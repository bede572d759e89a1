import { decodeString } from '../runtime/bounds/json-document.ts';
import { escapedRuns, JsonView } from '../runtime/bounds/json-view.ts';
import type { ByteMemory } from '../runtime/memory.ts';
import { type ByteReply, type ByteServer, wordsOf } from './byte-server.ts';
import { refusalOf, VaultError } from './contract.ts';
import {
  grantedLease,
  loginRefusal,
  loginRequest,
  lookedUp,
  lookUpRequest,
  type RenewedLease,
  renewRequest,
  type TokenLease,
  withoutToken,
} from './logins.ts';
import type { VaultAuth } from './settings.ts';
import { readTokenBytes, type TokenBytes, tokenFrom } from './token-bytes.ts';

export interface Login extends TokenLease {
  /** Whether the token has changed; a given token is only looked up. */
  readonly replaced: boolean;
}

export interface KeptTokenOptions {
  readonly auth: VaultAuth;
  readonly server: ByteServer;
  readonly memory: ByteMemory;
  /** The token in use; default: that of method `token`. Released by `close`. */
  readonly token?: TokenBytes | undefined;
  /**
   * Opens the file of the service account's token on behalf of this process, which closes it. Undefined, and by
   * default: the file is opened by its path.
   */
  readonly openServiceAccountToken?: (() => number | undefined) | undefined;
}

/** One token for the key server, as bytes: obtained, renewed and released. Each operation is a single attempt. */
export class KeptToken {
  readonly #options: KeptTokenOptions;
  #token: TokenBytes | undefined;
  #closed = false;

  constructor(options: KeptTokenOptions) {
    const { auth, memory, token } = options;
    this.#options = options;
    this.#token = token ?? (auth.method === 'token' ? tokenFrom(Buffer.from(auth.token), memory) : undefined);
  }

  /** The token in use, in place; undefined before the login. */
  get bytes(): Buffer | undefined {
    return this.#token?.bytes;
  }

  /** @throws VaultError before the login */
  readonly inUse = (): Uint8Array => {
    if (this.#token !== undefined) return this.#token.bytes;
    throw new VaultError('unavailable', 'There is no token for the key server', {
      nextStep: 'Log in first.',
    });
  };

  /**
   * Obtains a token: from its file, through the service account, or the given one, which is looked up.
   * @throws VaultError: `denied` if the key server refuses, `unavailable` for anything that may be temporary
   */
  async logIn(signal: AbortSignal): Promise<Login> {
    const { auth, server, memory } = this.#options;
    if (auth.method === 'kubernetes') {
      const { token, ...lease } = await exchanged(server, auth, this.#readJwt(auth), memory, signal);
      this.#adopt(token);
      return { ...lease, replaced: true };
    }
    const replaced = auth.method === 'token-file' && this.#readFile(auth.path);
    return { ...(await lookUp(server, this.inUse, signal)), replaced };
  }

  /** @throws VaultError: `denied` if the policy does not permit it, `rejected` if the token cannot be renewed */
  async renew(signal: AbortSignal): Promise<RenewedLease> {
    const { server, memory } = this.#options;
    const { token, ...lease } = await renewed(server, this.inUse, memory, signal);
    this.#adopt(token);
    return lease;
  }

  /** The service account's token, which stays valid after a login; undefined for other methods, or if it is away. */
  serviceAccountToken(): TokenBytes | undefined {
    const { auth } = this.#options;
    if (auth.method !== 'kubernetes') return undefined;
    try {
      return this.#readJwt(auth);
    } catch {
      return undefined;
    }
  }

  /** Zeroes the token. */
  close(): void {
    this.#closed = true;
    this.#token?.release();
    this.#token = undefined;
  }

  /** @returns whether the file has another token than the one in use */
  #readFile(path: string): boolean {
    const token = readTokenBytes(path, 'token', this.#options.memory);
    const replaced = this.#token === undefined || !token.bytes.equals(this.#token.bytes);
    this.#adopt(token);
    return replaced;
  }

  /** Read for each login, because the kubelet replaces it. */
  #readJwt({ serviceAccountTokenPath }: KubernetesAuth): TokenBytes {
    const { memory, openServiceAccountToken } = this.#options;
    const opened = openServiceAccountToken?.();
    return readTokenBytes(serviceAccountTokenPath, 'service account token', memory, opened);
  }

  /** Requests copy the token when they are written, so the former one is no longer needed. */
  #adopt(token: TokenBytes): void {
    if (this.#closed) {
      token.release();
      return;
    }
    this.#token?.release();
    this.#token = token;
  }
}

/** A token from a login. */
interface LoginGrant extends RenewedLease {
  readonly token: TokenBytes;
}

type KubernetesAuth = Extract<VaultAuth, { method: 'kubernetes' }>;

/** Exchanges the service account's token, and then releases it. */
async function exchanged(
  server: ByteServer,
  { role, mountPath }: KubernetesAuth,
  jwt: TokenBytes,
  memory: ByteMemory,
  signal: AbortSignal,
): Promise<LoginGrant> {
  const { method, path } = loginRequest(mountPath);
  const start = Buffer.from(`{"role":${JSON.stringify(role)},"jwt":"`);
  try {
    const body = [start, ...escapedRuns(jwt.bytes), Buffer.from('"}')];
    return await server.ask({ method, path, body }, signal, (reply) => {
      if (reply.status === 200) return grantFrom(reply, path, memory);
      throw loginRefusal(path, role, reply, wordsOf(reply, jwt.bytes));
    });
  } finally {
    jwt.release();
  }
}

/** @throws VaultError of kind `denied` if the key server does not know the token */
function lookUp(server: ByteServer, token: () => Uint8Array, signal: AbortSignal): Promise<TokenLease> {
  return server.ask({ ...lookUpRequest, token }, signal, (reply) =>
    lookedUp({
      answer: reply,
      fields: () => new JsonView(reply.bytes),
      errors: () => wordsOf(reply, token()),
    }),
  );
}

function renewed(
  server: ByteServer,
  token: () => Uint8Array,
  memory: ByteMemory,
  signal: AbortSignal,
): Promise<LoginGrant> {
  const request = { ...renewRequest, body: [Buffer.from('{}')], token };
  return server.ask(request, signal, (reply) => {
    if (reply.status === 200) return grantFrom(reply, request.path, memory);
    throw refusalOf(request, reply, wordsOf(reply, token()));
  });
}

/** Decodes the token in place and copies it into its own memory. */
function grantFrom({ bytes }: ByteReply, path: string, memory: ByteMemory): LoginGrant {
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

/** Revokes a token, in at most 2 s. A policy may forbid that; then the token expires with its lease. */
export async function revokeToken(server: ByteServer, token: () => Uint8Array): Promise<void> {
  const request = { method: 'POST', path: 'auth/token/revoke-self', token } as const;
  await server.ask(request, AbortSignal.timeout(2_000), () => undefined).catch(() => undefined);
}
