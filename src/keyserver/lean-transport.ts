import { JsonError } from '../runtime/bounds/json-document.ts';
import { createWipedMemory } from '../runtime/memory.ts';
import { writeRequest } from '../runtime/net/http1.ts';
import { isLoopback } from '../runtime/settings/setting.ts';
import {
  apiHeaders,
  apiPrefix,
  type TlsContext,
  tlsFor,
  type VaultConnectionSettings,
} from './connection.ts';
import {
  type ByteExchange,
  redirectedElsewhere,
  VaultError,
  type VaultRequest,
  type VaultResponse,
  type VaultTransport,
} from './contract.ts';
import {
  createJsonHttpClient,
  type JsonHttpClient,
  type JsonHttpRequest,
  type JsonHttpResponse,
} from './json-http-client.ts';
import { isEncodedPath } from './path.ts';
import { SecretPool } from './secret-client/secret-pool.ts';

/**
 * The key server's API, for processes that start fast or call often: control calls over `node:http`, calls with keys
 * over sockets whose memory is zeroed.
 * @throws SvcError (exit 78) for unusable TLS files
 */
export function createLeanTransport(connection: VaultConnectionSettings): VaultTransport {
  const tls = tlsFor(connection);
  const client = createJsonHttpClient(connection, tls);
  const toHttpRequest = httpRequests(connection);
  const bytes = new ByteTransport(connection, tls);
  return {
    async send(request): Promise<VaultResponse> {
      const outgoing = toHttpRequest(request);
      const used = request.bytes === undefined ? client : bytes.carrying(request.bytes);
      const answer = await used.exchange(outgoing);
      const { location, ...final } =
        answer.status === 307 ? await followStandby(used, connection, outgoing, answer) : answer;
      return final;
    },
    close() {
      client.close();
      bytes.close();
    },
  };
}

const times = { idleMs: 30_000, patienceMs: 2 };
/** An answer to a call with 160 keys takes 30 KiB, one that refuses all of them 60. */
const maxAnswerBytes = 256 * 1024;

/** Calls whose bodies contain keys, written from and read into memory that is zeroed after each call. */
class ByteTransport {
  readonly #connection: VaultConnectionSettings;
  readonly #tls: TlsContext | undefined;
  readonly #memory = createWipedMemory();
  readonly #pools = new Map<string, SecretPool>();

  constructor(connection: VaultConnectionSettings, tls: TlsContext | undefined) {
    this.#tls = tls;
    this.#connection = {
      ...connection,
      maxAnswerBytes: Math.min(connection.maxAnswerBytes, maxAnswerBytes),
    };
  }

  /** Exchanges these bytes in place of a request's own body. */
  carrying(bytes: ByteExchange): Pick<JsonHttpClient, 'exchange'> {
    return { exchange: (request) => this.#exchange(request, bytes) };
  }

  close(): void {
    for (const pool of this.#pools.values()) pool.close();
  }

  async #exchange(request: JsonHttpRequest, bytes: ByteExchange): Promise<JsonHttpResponse> {
    const { origin, method, path, headers, signal, timeoutMs } = request;
    const head = { method, path, host: origin.host, headers: Object.entries(headers) };
    const { body, ...answer } = await this.#poolFor(origin).exchange(
      (sink) => writeRequest(head, hasBody(bytes) ? [bytes.body] : undefined, sink),
      signal,
      timeoutMs,
    );
    try {
      return { ...answer, body: body.bytes.length === 0 ? undefined : bytes.read(answer, body.bytes) };
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      // a gateway in between reports failures in HTML
      if (answer.status >= 300) return { ...answer, body: undefined };
      throw notJson(origin, answer.status, error);
    } finally {
      body.release();
    }
  }

  /** There is one pool for the configured server, and one for the active server that a standby named last. */
  #poolFor(origin: URL): SecretPool {
    const known = this.#pools.get(origin.origin);
    if (known !== undefined) return known;
    for (const [name, pool] of this.#pools) {
      if (name === this.#connection.address.origin) continue;
      pool.close();
      this.#pools.delete(name);
    }
    const connection = { ...this.#connection, address: origin };
    const pool = new SecretPool(connection, this.#tls, this.#memory, times);
    this.#pools.set(origin.origin, pool);
    return pool;
  }
}

const hasBody = (bytes: ByteExchange | undefined): bytes is ByteExchange =>
  bytes !== undefined && bytes.body.length > 0;

const notJson = (origin: URL, status: number, cause: JsonError): VaultError =>
  new VaultError('unavailable', `${origin.host} answered ${status} with a body that is not JSON`, {
    status,
    cause,
  });

type SendRequest = Parameters<VaultTransport['send']>[0];

/** Converts calls to HTTP requests. A LIST is sent as a GET with `list=true`, which passes every gateway. */
export function httpRequests(connection: VaultConnectionSettings): (request: SendRequest) => JsonHttpRequest {
  const { address, requestTimeoutMs } = connection;
  const prefix = apiPrefix(connection);
  const ofBody = Object.fromEntries(apiHeaders(connection, true));
  const ofNone = Object.fromEntries(apiHeaders(connection, false));
  const headersFor = ({ body, bytes, token }: SendRequest) => {
    const headers = body !== undefined || hasBody(bytes) ? ofBody : ofNone;
    return token === undefined ? headers : { ...headers, 'X-Vault-Token': token };
  };
  return (request) => ({
    origin: address,
    method: request.method === 'LIST' ? 'GET' : request.method,
    path: `${prefix}${checkedPath(request)}${request.method === 'LIST' ? '?list=true' : ''}`,
    headers: headersFor(request),
    body: request.body === undefined ? undefined : JSON.stringify(request.body),
    signal: request.signal,
    timeoutMs: Math.min(requestTimeoutMs, request.timeoutMs ?? requestTimeoutMs),
  });
}

function checkedPath({ path }: VaultRequest): string {
  if (isEncodedPath(path)) return path;
  throw new VaultError('rejected', 'A path for the key server is not encoded', { path });
}

/** Repeats the request at the server that `activeServer` finds in the response. */
export async function followStandby(
  client: Pick<JsonHttpClient, 'exchange'>,
  connection: VaultConnectionSettings,
  request: JsonHttpRequest,
  answer: JsonHttpResponse,
): Promise<JsonHttpResponse> {
  return client.exchange({ ...request, origin: activeServer(connection, request, answer) });
}

/**
 * A standby that does not forward requests names the active server by a 307. The redirect is followed once, and only to
 * the same path and scheme, because it receives the token: with TLS the other server must present a certificate of the
 * same CA; without TLS it must be on this machine, like VAULT_ADDR. No other redirect is followed.
 * @returns where to send the request again
 * @throws VaultError of kind `unavailable`
 */
export function activeServer(
  connection: VaultConnectionSettings,
  request: Pick<JsonHttpRequest, 'origin' | 'path'>,
  answer: Pick<JsonHttpResponse, 'status' | 'location'>,
): URL {
  const target = URL.parse(answer.location ?? '', request.origin.href);
  const usable =
    connection.followStandby &&
    target !== null &&
    target.protocol === request.origin.protocol &&
    (target.protocol === 'https:' || isLoopback(target.hostname)) &&
    target.username === '' &&
    target.pathname + target.search === request.path;
  if (usable) return target;
  throw redirectedElsewhere(request.origin.host, answer.status);
}
