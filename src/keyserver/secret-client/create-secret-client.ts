import type { Logger } from '../../runtime/logging/logger.ts';
import type { Region } from '../../runtime/native/memory.ts';
import { scrubCopies } from '../../runtime/native/scrub.ts';
import type { SecretMemory } from '../../runtime/native/secret-memory.ts';
import {
  type TlsContext,
  tellSkipped,
  tlsFor,
  type VaultConnectionSettings,
  vaultConnection,
} from '../connection.ts';
import { isVaultError } from '../contract.ts';
import { KeptToken, type Login } from '../kept-token.ts';
import type { RenewedLease } from '../logins.ts';
import type { VaultConfig } from '../settings.ts';
import { TokenBytes } from '../token-bytes.ts';
import { type SecretClient, type SecretDocument, SecretsServer } from './contract.ts';
import { Mounts, readSecret, type SecretPlace, segmentsOf } from './kv.ts';
import { SecretPool } from './secret-pool.ts';

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
  /** Told which certificates were skipped. */
  readonly log?: Pick<Logger, 'warn'>;
  /** In place of the usual ones. */
  readonly timeouts?: Partial<Pick<VaultConnectionSettings, 'connectTimeoutMs' | 'requestTimeoutMs'>>;
}

const maxSockets = 4;

/** @throws SvcError (exit 78) for unusable TLS files; (exit 71) without memory for secrets */
export function createSecretClient(options: SecretClientOptions): SecretClient {
  const { config, log, timeouts } = options;
  const onSkipped = log && tellSkipped(log);
  const connection = { ...vaultConnection(config, 'wrapper'), maxSockets, onSkipped, ...timeouts };
  const memory = new KeptRegions(options.memory);
  return new Client(options, connection, memory);
}

class Client implements SecretClient {
  readonly #memory: KeptRegions;
  readonly #tls: TlsContext | undefined;
  readonly #pool: SecretPool;
  readonly #server: SecretsServer;
  readonly #token: KeptToken;
  readonly #mounts: Mounts;
  readonly #given: Region | undefined;
  #login: Promise<Login> | undefined;

  constructor(options: SecretClientOptions, connection: VaultConnectionSettings, memory: KeptRegions) {
    const { config, token, tokenInUse, openServiceAccountToken } = options;
    const { auth } = config;
    const used = tokenInUse ?? (auth.method === 'token' ? token : undefined);
    if (used !== token) token?.release();
    this.#memory = memory;
    this.#tls = tlsFor(connection);
    this.#pool = new SecretPool(connection, this.#tls, memory);
    this.#server = new SecretsServer(connection, this.#pool);
    this.#token = new KeptToken({
      ...{ auth, server: this.#server, memory, openServiceAccountToken },
      token: used && new TokenBytes(used),
    });
    this.#mounts = new Mounts(this.#server, this.#token.inUse);
    this.#given = token;
  }

  logIn(signal: AbortSignal): Promise<Login> {
    this.#login = this.#token.logIn(signal);
    return this.#login;
  }

  renew(signal: AbortSignal): Promise<RenewedLease> {
    return this.#token.renew(signal);
  }

  async read(path: string, signal: AbortSignal): Promise<SecretDocument> {
    const segments = segmentsOf(path);
    if (this.#token.bytes === undefined) await this.#login;
    const places = await this.#mounts.places(segments, signal);
    return this.#readFirst(path, places, signal);
  }

  scrub(values: readonly Buffer[], keep: readonly Region[]): number {
    const jwt = this.#token.serviceAccountToken();
    const tokens = [this.#token.bytes, jwt?.bytes].filter((bytes) => bytes !== undefined);
    const given = this.#given === undefined ? [] : [this.#given];
    try {
      return scrubCopies([...values, ...tokens], [...keep, ...given.filter(isHeld), ...this.#memory.inUse()]);
    } finally {
      jwt?.release();
    }
  }

  keepAuthorities(): void {
    this.#tls?.keepAuthorities();
  }

  token(): Uint8Array | undefined {
    return this.#token.bytes;
  }

  close(): void {
    this.#pool.close();
    this.#token.close();
  }

  /** The first place that has the secret; otherwise the first place's response. */
  async #readFirst(
    path: string,
    places: readonly SecretPlace[],
    signal: AbortSignal,
  ): Promise<SecretDocument> {
    const failures: unknown[] = [];
    for (const place of places) {
      try {
        return await readSecret(this.#server, path, place, this.#token.inUse, signal);
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
