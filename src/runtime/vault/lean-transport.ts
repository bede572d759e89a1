import { writeRequest } from '../../core/http1.ts';
import { JsonError } from '../../core/json-document.ts';
import { createWipedMemory } from '../memory.ts';
import type { VaultConnectionSettings } from './connection.ts';
import { type ByteExchange, VaultError, type VaultResponse, type VaultTransport } from './contract.ts';
import {
  createJsonHttpClient,
  followStandby,
  httpRequests,
  type JsonHttpClient,
  type JsonHttpRequest,
  type JsonHttpResponse,
} from './json-http-client.ts';
import { SecretPool } from './secret-client/secret-pool.ts';

/**
 * The key server's API over `node:http` only: for processes that start fast or call often.
 * @throws SvcError (exit 78) where TLS files cannot be used
 */
export function createLeanTransport(connection: VaultConnectionSettings): VaultTransport {
  const client = createJsonHttpClient(connection);
  const toHttpRequest = httpRequests(connection);
  const bytes = new ByteTransport(connection);
  return {
    async send(request): Promise<VaultResponse> {
      const outgoing = toHttpRequest(request);
      const used = request.bytes === undefined ? client : bytes.carrying(request.bytes);
      const answer = await used.exchange(outgoing);
      const { status, body } =
        answer.status === 307 ? await followStandby(used, connection, outgoing, answer) : answer;
      return { status, body };
    },
    close() {
      client.close();
      bytes.close();
    },
  };
}

const times = { idleMs: 30_000, patienceMs: 2 };

/** Calls whose bodies contain keys, written from and read into memory that is zeroed after each call. */
class ByteTransport {
  readonly #connection: VaultConnectionSettings;
  readonly #memory = createWipedMemory();
  readonly #pools = new Map<string, SecretPool>();

  constructor(connection: VaultConnectionSettings) {
    this.#connection = connection;
  }

  /** Exchanges this body instead of a request's own. */
  carrying(bytes: ByteExchange): Pick<JsonHttpClient, 'exchange'> {
    return { exchange: (request) => this.#exchange(request, bytes) };
  }

  close(): void {
    for (const pool of this.#pools.values()) pool.close();
  }

  async #exchange(request: JsonHttpRequest, bytes: ByteExchange): Promise<JsonHttpResponse> {
    const { origin, method, path, headers, signal, timeoutMs } = request;
    const head = { method, path, host: origin.host, headers: Object.entries(headers) };
    const { status, location, body } = await this.#poolFor(origin).exchange(
      (sink) => writeRequest(head, [bytes.body], sink),
      signal,
      timeoutMs,
    );
    try {
      return { status, location, body: body.bytes.length === 0 ? undefined : bytes.read(status, body.bytes) };
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      // A gateway in between reports its failure in HTML.
      if (status >= 300) return { status, location, body: undefined };
      throw notJson(origin, status, error);
    } finally {
      body.release();
    }
  }

  /** One for the configured server, and one for the active server that a standby named last. */
  #poolFor(origin: URL): SecretPool {
    const known = this.#pools.get(origin.origin);
    if (known !== undefined) return known;
    for (const [name, pool] of this.#pools) {
      if (name === this.#connection.address.origin) continue;
      pool.close();
      this.#pools.delete(name);
    }
    const connection = { ...this.#connection, address: origin };
    const pool = new SecretPool(connection, this.#memory, times);
    this.#pools.set(origin.origin, pool);
    return pool;
  }
}

const notJson = (origin: URL, status: number, cause: JsonError): VaultError =>
  new VaultError('unavailable', `${origin.host} answered ${status} with what is not JSON`, { status, cause });
