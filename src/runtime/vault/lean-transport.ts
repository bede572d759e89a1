import { writeRequest } from '../../core/http1.ts';
import { JsonError } from '../../core/json-document.ts';
import { isEncodedPath } from '../../core/vault/path.ts';
import { createWipedMemory } from '../memory.ts';
import { apiHeaders, apiPrefix, type VaultConnectionSettings } from './connection.ts';
import {
  type ByteExchange,
  VaultError,
  type VaultRequest,
  type VaultResponse,
  type VaultTransport,
} from './contract.ts';
import {
  createJsonHttpClient,
  followStandby,
  type JsonHttpClient,
  type JsonHttpRequest,
  type JsonHttpResponse,
} from './json-http-client.ts';
import { SecretPool } from './secret-client/secret-pool.ts';

type SendRequest = Parameters<VaultTransport['send']>[0];

/**
 * The key server's API over `node:http` and nothing else: for what starts fast and calls often.
 * @throws SvcError (exit 78) where TLS files cannot be used
 */
export function createLeanTransport(connection: VaultConnectionSettings): VaultTransport {
  const client = createJsonHttpClient(connection);
  const toWire = httpRequests(connection);
  const bytes = new ByteTransport(connection);
  return {
    async send(request): Promise<VaultResponse> {
      const outgoing = toWire(request);
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

/** Turns requests into what goes on the wire. A LIST goes as a GET with `list=true`, which every gateway lets through. */
export function httpRequests(connection: VaultConnectionSettings): (request: SendRequest) => JsonHttpRequest {
  const { address, requestTimeoutMs } = connection;
  const prefix = apiPrefix(connection);
  return (request) => ({
    origin: address,
    method: request.method === 'LIST' ? 'GET' : request.method,
    path: `${prefix}${checkedPath(request)}${request.method === 'LIST' ? '?list=true' : ''}`,
    headers: headersFor(request, connection),
    body: request.body === undefined ? undefined : JSON.stringify(request.body),
    signal: request.signal,
    timeoutMs: Math.min(requestTimeoutMs, request.timeoutMs ?? requestTimeoutMs),
  });
}

function headersFor({ body, bytes, token }: SendRequest, connection: VaultConnectionSettings) {
  const headers = Object.fromEntries(apiHeaders(connection, body !== undefined || bytes !== undefined));
  return token === undefined ? headers : { ...headers, 'X-Vault-Token': token };
}

function checkedPath({ path }: VaultRequest): string {
  if (isEncodedPath(path)) return path;
  throw new VaultError('rejected', 'A path for the key server is not encoded', { path });
}

const times = { idleMs: 30_000, patienceMs: 2 };

/** Calls whose bodies hold keys: written from and read into memory that is zeroed after each call. */
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
      // A gateway in between says in HTML why it could not pass the request on.
      if (status >= 300) return { status, location, body: undefined };
      throw notJson(origin, status, error);
    } finally {
      body.release();
    }
  }

  /** One for the server that was named, and one for the active server that a standby has named last. */
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
