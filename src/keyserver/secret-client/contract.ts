import { JsonError } from '../../runtime/bounds/json-document.ts';
import type { Region } from '../../runtime/native/memory.ts';
import { writeRequest } from '../../runtime/net/http1.ts';
import type { ByteSink } from '../../runtime/net/http1-chunked-body.ts';
import type { ByteReply, ByteRequest, ByteServer } from '../byte-server.ts';
import { apiHeaders, apiPrefix, type VaultConnectionSettings } from '../connection.ts';
import { redirectedElsewhere, VaultError } from '../contract.ts';
import type { Login } from '../kept-token.ts';
import type { RenewedLease } from '../logins.ts';
import type { SecretBuffer } from '../secret-buffer.ts';
import type { SecretPool } from './secret-pool.ts';

export interface SecretField {
  readonly name: string;
  /** UTF-8 of a string, compact JSON of any other value; in secret memory until the document is released. */
  readonly value: Uint8Array;
}

export interface SecretDocument {
  /** As requested. */
  readonly path: string;
  readonly kvVersion: 1 | 2;
  /** Only in KV version 2. */
  readonly version: number | undefined;
  readonly fields: readonly SecretField[];
  /** Zeroes the memory of all values, which must not be used afterwards. Repeated calls have no effect. */
  release(): void;
}

/**
 * Reads secrets without ever creating a string of a token or a value. Each operation is a single attempt, and fails
 * with a VaultError whose kind tells whether another may succeed, with the signal's reason, or with an SvcError (exit
 * 71) if there is no memory for secrets.
 */
export interface SecretClient {
  /** Obtains a token: from its file, through the service account, or the given one, which is looked up. */
  logIn(signal: AbortSignal): Promise<Login>;
  renew(signal: AbortSignal): Promise<RenewedLease>;
  /**
   * In KV version 2, `secret/app`, `secret/data/app`, `/secret/app/` and `v1/secret/app` mean the same. Without a
   * token, waits for a login in progress.
   */
  read(path: string, signal: AbortSignal): Promise<SecretDocument>;
  /**
   * Zeroes copies of the tokens and of the given values in native memory, where TLS and system libraries have left
   * them, except in `keep` and in memory of this client and its documents.
   * @returns number of copies that were zeroed
   */
  scrub(values: readonly Buffer[], keep: readonly Region[]): number;
  /** From now on trusts the CAs already read, whatever happens to their files. */
  keepAuthorities(): void;
  /** The token in use, in place; undefined before the login. */
  token(): Uint8Array | undefined;
  /** Zeroes the token and every buffer. Pending operations fail. Documents stay valid until they are released. */
  close(): void;
}

/** The key server's HTTP API over connections whose memory is secret. */
export class SecretsServer implements ByteServer {
  readonly #connection: VaultConnectionSettings;
  readonly #pool: SecretPool;
  readonly #prefix: string;

  constructor(connection: VaultConnectionSettings, pool: SecretPool) {
    this.#connection = connection;
    this.#pool = pool;
    this.#prefix = apiPrefix(connection);
  }

  /** Sends a request, passes the response to `use`, and zeroes it unless `use` has kept its body. */
  async ask<T>(
    request: ByteRequest,
    signal: AbortSignal,
    use: (reply: ByteReply, keep: () => SecretBuffer) => T,
  ): Promise<T> {
    const answer = await this.#pool.exchange((sink) => this.#write(request, sink), signal);
    const { status, retryAfterMs, body } = answer;
    let kept = false;
    const keep = () => {
      kept = true;
      return body;
    };
    try {
      if (status >= 300 && status < 400) {
        throw redirectedElsewhere(this.#connection.address.host, status, request.path);
      }
      return use({ status, retryAfterMs, bytes: body.bytes }, keep);
    } catch (error) {
      kept = false;
      throw error instanceof JsonError ? this.#notJson(status, request, error) : error;
    } finally {
      if (!kept) body.release();
    }
  }

  #write({ method, path, body, token }: ByteRequest, sink: ByteSink): void {
    const { host } = this.#connection.address;
    const headers: [string, string | Uint8Array][] = apiHeaders(this.#connection, body !== undefined);
    if (token !== undefined) headers.push(['X-Vault-Token', token()]);
    writeRequest({ method, path: this.#prefix + path, host, headers }, body, sink);
  }

  #notJson(status: number, { path }: ByteRequest, cause: JsonError): VaultError {
    const { host } = this.#connection.address;
    return new VaultError(
      'unavailable',
      `${host} answered ${status} to ${path} with a body that is not JSON`,
      {
        status,
        path,
        cause,
      },
    );
  }
}
