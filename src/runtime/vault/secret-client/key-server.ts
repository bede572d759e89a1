import type { ByteSink } from '../../../core/http1/byte-sink.ts';
import { writeRequest } from '../../../core/http1/request.ts';
import { JsonError } from '../../../core/json-bytes/json-error.ts';
import type { VaultConnection } from '../connection.ts';
import { VaultError } from '../errors.ts';
import type { SecretBuffer } from './secret-buffer.ts';
import type { SecretPool } from './secret-pool.ts';

export interface Question {
  readonly method: 'GET' | 'POST';
  /** Below `/v1/`, encoded. */
  readonly path: string;
  /** Parts of a JSON text. */
  readonly body?: readonly Uint8Array[];
  /** Read when the request is written. */
  readonly token?: () => Uint8Array;
}

/** An answer of any status below 300 or from 400 on, in secret memory until released. */
export interface Reply {
  readonly status: number;
  readonly body: SecretBuffer;
}

/** The key server's HTTP API over connections whose memory is secret. */
export class KeyServer {
  readonly #connection: VaultConnection;
  readonly #pool: SecretPool;
  readonly #prefix: string;

  constructor(connection: VaultConnection, pool: SecretPool) {
    this.#connection = connection;
    this.#pool = pool;
    this.#prefix = `${connection.address.pathname.replace(/\/+$/, '')}/v1/`;
  }

  /** Asks, hands the answer to `use`, and zeroes it unless `use` has kept its body. */
  async ask<T>(
    question: Question,
    signal: AbortSignal,
    use: (reply: Reply, keep: () => SecretBuffer) => T,
  ): Promise<T> {
    const { status, body } = await this.#pool.exchange((sink) => this.#write(question, sink), signal);
    let kept = false;
    const keep = () => {
      kept = true;
      return body;
    };
    try {
      if (status >= 300 && status < 400) throw this.#redirected(status, question);
      return use({ status, body }, keep);
    } catch (error) {
      kept = false;
      throw error instanceof JsonError ? this.#notJson(status, question, error) : error;
    } finally {
      if (!kept) body.release();
    }
  }

  #write({ method, path, body, token }: Question, sink: ByteSink): void {
    const { address, namespace } = this.#connection;
    const headers: [string, string | Uint8Array][] = [
      ['Accept', 'application/json'],
      ['X-Vault-Request', 'true'],
    ];
    if (namespace !== undefined) headers.push(['X-Vault-Namespace', namespace]);
    if (token !== undefined) headers.push(['X-Vault-Token', token()]);
    if (body !== undefined) headers.push(['Content-Type', 'application/json']);
    writeRequest({ method, path: this.#prefix + path, host: address.host, headers }, body, sink);
  }

  #redirected(status: number, { path }: Question): VaultError {
    const { host } = this.#connection.address;
    return new VaultError('unavailable', `${host} redirects ${path} elsewhere, which is not followed`, {
      status,
      path,
      nextStep: 'Let VAULT_ADDR name the active key server, or a load balancer that finds it.',
    });
  }

  #notJson(status: number, { path }: Question, cause: JsonError): VaultError {
    const { host } = this.#connection.address;
    return new VaultError('unavailable', `${host} answered ${status} to ${path} with what is not JSON`, {
      status,
      path,
      cause,
    });
  }
}
