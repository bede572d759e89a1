import { closeSync, openSync, readSync } from 'node:fs';
import { decodeString } from '../../runtime/bounds/json-document.ts';
import { escapedRuns, JsonView } from '../../runtime/bounds/json-view.ts';
import type { Region } from '../../runtime/native/memory.ts';
import { scrubCopies } from '../../runtime/native/scrub.ts';
import type { SecretMemory } from '../../runtime/native/secret-memory.ts';
import { vaultConnection } from '../connection.ts';
import { isVaultError, refusalOf, VaultError } from '../contract.ts';
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
import type { VaultAuth, VaultConfig } from '../settings.ts';
import {
  type Login,
  type SecretClient,
  type SecretDocument,
  type SecretReply,
  type SecretRequest,
  SecretsServer,
  wordsOf,
} from './contract.ts';
import { Mounts, readSecret, type SecretPlace, segmentsOf } from './kv.ts';
import { SecretPool } from './secret-pool.ts';
import { SecretBuffer } from './secret-socket.ts';

export interface SecretClientOptions {
  readonly config: VaultConfig;
  /**
   * For method `token`, used in place of the configured one; with other methods it is zeroed at once, so that it is
   * never used before the login. Owned by the client from now on.
   */
  readonly token?: Region | undefined;
  /** The token that an earlier process with the same configuration obtained, by any method; otherwise like `token`. */
  readonly tokenInUse?: Region | undefined;
  readonly memory: SecretMemory;
  /**
   * Opens the file of the service account's token on behalf of the client, which closes it. Undefined, and by default:
   * the client opens the file by its path.
   */
  readonly openServiceAccountToken?: () => number | undefined;
  /** Timeouts in milliseconds, in place of the usual ones. */
  readonly connectTimeoutMs?: number;
  readonly requestTimeoutMs?: number;
}

const maxSockets = 4;

/** @throws SvcError (exit 78) for unusable TLS files; (exit 71) without memory for secrets */
export function createSecretClient(options: SecretClientOptions): SecretClient {
  const { connectTimeoutMs, requestTimeoutMs } = options;
  const connection = {
    ...vaultConnection(options.config),
    maxSockets,
    ...(connectTimeoutMs === undefined ? {} : { connectTimeoutMs }),
    ...(requestTimeoutMs === undefined ? {} : { requestTimeoutMs }),
  };
  const memory = new KeptRegions(options.memory);
  const pool = new SecretPool(connection, memory);
  return new KeptToken(options, memory, pool);
}

class KeptToken implements SecretClient {
  readonly #auth: VaultAuth;
  readonly #memory: KeptRegions;
  readonly #pool: SecretPool;
  readonly #server: SecretsServer;
  readonly #mounts: Mounts;
  readonly #given: Region | undefined;
  readonly #openServiceAccountToken: () => number | undefined;
  #token: TokenBytes | undefined;
  #login: Promise<Login> | undefined;
  #closed = false;

  constructor(options: SecretClientOptions, memory: KeptRegions, pool: SecretPool) {
    const { config, token, tokenInUse, openServiceAccountToken = () => undefined } = options;
    this.#auth = config.auth;
    this.#openServiceAccountToken = openServiceAccountToken;
    this.#memory = memory;
    this.#pool = pool;
    this.#server = new SecretsServer(vaultConnection(config), pool);
    this.#mounts = new Mounts(this.#server, this.#tokenInUse);
    this.#given = token;
    if (tokenInUse !== undefined) {
      token?.release();
      this.#token = new TokenBytes(tokenInUse);
    } else if (config.auth.method !== 'token') token?.release();
    else this.#token = token ? new TokenBytes(token) : tokenFrom(Buffer.from(config.auth.token), memory);
  }

  logIn(signal: AbortSignal): Promise<Login> {
    this.#login = this.#logIn(signal);
    return this.#login;
  }

  async renew(signal: AbortSignal): Promise<RenewedLease> {
    const { token, leaseSeconds, renewable } = await renewToken(
      this.#server,
      this.#tokenInUse,
      this.#memory,
      signal,
    );
    this.#adopt(token);
    return { leaseSeconds, renewable };
  }

  async read(path: string, signal: AbortSignal): Promise<SecretDocument> {
    const segments = segmentsOf(path);
    if (this.#token === undefined) await this.#login;
    const places = await this.#mounts.places(segments, signal);
    return this.#readFirst(path, places, signal);
  }

  scrub(values: readonly Buffer[], keep: readonly Region[]): number {
    const jwt = this.#serviceAccountToken();
    const tokens = [this.#token, jwt].filter((token) => token !== undefined);
    const given = this.#given === undefined ? [] : [this.#given];
    try {
      const needles = [...values, ...tokens.map(({ bytes }) => bytes)];
      return scrubCopies(needles, [...keep, ...given.filter(isHeld), ...this.#memory.inUse()]);
    } finally {
      jwt?.release();
    }
  }

  keepAuthorities(): void {
    this.#pool.keepAuthorities();
  }

  token(): Uint8Array | undefined {
    return this.#token?.bytes;
  }

  close(): void {
    this.#closed = true;
    this.#pool.close();
    this.#token?.release();
    this.#token = undefined;
  }

  async #logIn(signal: AbortSignal): Promise<Login> {
    const auth = this.#auth;
    if (auth.method === 'kubernetes') {
      const jwt = this.#readServiceAccountToken(auth);
      const { token, ...lease } = await logInByServiceAccount(this.#server, auth, jwt, this.#memory, signal);
      this.#adopt(token);
      return { ...lease, replaced: true };
    }
    const replaced = auth.method === 'token-file' && this.#readFile(auth.path);
    return { ...(await lookUp(this.#server, this.#tokenInUse, signal)), replaced };
  }

  /** @returns whether the file has another token than the one in use */
  #readFile(path: string): boolean {
    const token = readTokenBytes(path, 'token', this.#memory);
    const replaced = this.#token === undefined || !token.bytes.equals(this.#token.bytes);
    this.#adopt(token);
    return replaced;
  }

  /** For scrubbing: it was zeroed after the login, but stays valid for an hour. */
  #serviceAccountToken(): TokenBytes | undefined {
    if (this.#auth.method !== 'kubernetes') return undefined;
    try {
      return this.#readServiceAccountToken(this.#auth);
    } catch {
      return undefined;
    }
  }

  /** Read for each login, because the kubelet replaces it. */
  #readServiceAccountToken({ serviceAccountTokenPath }: KubernetesAuth): TokenBytes {
    const opened = this.#openServiceAccountToken();
    return readTokenBytes(serviceAccountTokenPath, 'service account token', this.#memory, opened);
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

  readonly #tokenInUse = (): Uint8Array => {
    if (this.#token !== undefined) return this.#token.bytes;
    throw new VaultError('unavailable', 'There is no token for the key server', {
      nextStep: 'Log in first.',
    });
  };

  /** The first place that has the secret; otherwise the first place's response. */
  async #readFirst(
    path: string,
    places: readonly SecretPlace[],
    signal: AbortSignal,
  ): Promise<SecretDocument> {
    const failures: unknown[] = [];
    for (const place of places) {
      try {
        return await readSecret(this.#server, path, place, this.#tokenInUse, signal);
      } catch (error) {
        if (!isVaultError(error) || (error.kind !== 'not-found' && error.kind !== 'denied')) throw error;
        failures.push(error);
      }
    }
    throw failures[0];
  }
}

/** Secret memory that keeps track of its regions in use. */
class KeptRegions implements SecretMemory {
  readonly #memory: SecretMemory;
  #regions: Region[] = [];

  constructor(memory: SecretMemory) {
    this.#memory = memory;
  }

  allocate(length: number): Region {
    const region = this.#memory.allocate(length);
    this.#regions = [...this.inUse(), region];
    return region;
  }

  inUse(): readonly Region[] {
    return this.#regions.filter(isHeld);
  }
}

/** A released region has no bytes. */
function isHeld(region: Region): boolean {
  try {
    return region.bytes.length === region.length;
  } catch {
    return false;
  }
}

/** A token from a login. */
interface LoginGrant extends RenewedLease {
  readonly token: TokenBytes;
}

type KubernetesAuth = Extract<VaultAuth, { method: 'kubernetes' }>;

/** Exchanges the service account's token, and then releases it. */
async function logInByServiceAccount(
  server: SecretsServer,
  { role, mountPath }: KubernetesAuth,
  jwt: TokenBytes,
  memory: SecretMemory,
  signal: AbortSignal,
): Promise<LoginGrant> {
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

/** @throws VaultError of kind `denied` if the key server does not know the token */
function lookUp(server: SecretsServer, token: () => Uint8Array, signal: AbortSignal): Promise<TokenLease> {
  return server.ask({ ...lookUpRequest, token }, signal, (reply) =>
    lookedUp({
      status: reply.status,
      fields: () => new JsonView(reply.body.bytes),
      errors: () => wordsOf(reply, token()),
    }),
  );
}

/** @throws VaultError: `denied` if the policy does not permit it, `rejected` if the token cannot be renewed */
function renewToken(
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

/** Decodes the token in place and copies it into its own memory. */
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

/** @param bytes copied */
function tokenFrom(bytes: Uint8Array, memory: SecretMemory): TokenBytes {
  const buffer = new SecretBuffer(memory);
  buffer.append(bytes);
  return new TokenBytes(buffer);
}

/**
 * Reads a token from a file straight into secret memory.
 * @param opened the file if it is already open; closed here
 * @throws VaultError of kind `unavailable`, because the file may appear or be filled later
 */
export function readTokenBytes(
  path: string,
  what: string,
  memory: SecretMemory,
  opened?: number,
): TokenBytes {
  const buffer = new SecretBuffer(memory);
  try {
    readInto(buffer, opened ?? openSync(path, 'r'));
  } catch (error) {
    buffer.release();
    throw unreadableTokenFile(what, path, error);
  }
  return tokenInFile(buffer, path, what);
}

/** Closes the descriptor. */
function readInto(buffer: SecretBuffer, descriptor: number): void {
  try {
    while (buffer.appendFrom((into) => readSync(descriptor, into)) > 0) {
      if (buffer.bytes.length > maxTokenBytes) throw Object.assign(new Error(), { code: 'EFBIG' });
    }
  } finally {
    closeSync(descriptor);
  }
}
