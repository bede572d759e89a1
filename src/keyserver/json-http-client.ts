import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { parseBounded } from '../runtime/bounds/bounded-json.ts';
import { createWipedMemory } from '../runtime/memory.ts';
import { lookupOf, serverNameOf } from '../runtime/net/connections.ts';
import { limitAnswer } from '../runtime/net/limit-answer.ts';
import { retryAfter } from '../runtime/net/retry-after.ts';
import type { TlsContext, VaultConnectionSettings } from './connection.ts';
import { type Answered, isVaultError, VaultError } from './contract.ts';
import { SecretBuffer } from './secret-buffer.ts';
import { noAnswer, noneInTime } from './secret-client/secret-socket.ts';

export function createJsonHttpClient(
  connection: VaultConnectionSettings,
  tls: TlsContext | undefined,
): JsonHttpClient {
  const agent = createAgent(connection, tls);
  return {
    exchange: (request) =>
      new Promise((resolve, reject) => {
        new JsonHttpExchange(request, agent, connection.maxAnswerBytes, resolve, reject).begin();
      }),
    close: () => agent.destroy(),
  };
}

/** Milliseconds after which idle connections are closed, so that changed certificates take effect. */
const idleMs = 30_000;

type Connector = (...parameters: Parameters<http.Agent['createConnection']>) => Socket;

/** A bounded pool of kept connections with a connect timeout. Ignores proxy variables of the environment. */
function createAgent(connection: VaultConnectionSettings, tls: TlsContext | undefined): http.Agent {
  const options = {
    keepAlive: true,
    maxSockets: connection.maxSockets,
    scheduling: 'lifo',
    timeout: idleMs,
  } as const;
  const agent =
    tls !== undefined
      ? new https.Agent({ ...options, maxCachedSessions: 0, rejectUnauthorized: !connection.skipVerify })
      : new http.Agent(options);
  const connect = agent.createConnection.bind(agent) as Connector;
  agent.createConnection = (target, callback) => {
    const secured = tls === undefined ? target : { ...target, secureContext: tls.current() };
    return boundConnecting(connect(secured, callback), tls !== undefined, connection.connectTimeoutMs);
  };
  return agent;
}

function boundConnecting(socket: Socket, encrypted: boolean, timeoutMs: number): Socket {
  const giveUp = () => socket.destroy(new Error(`no connection within ${timeoutMs} ms`));
  const timer = setTimeout(giveUp, timeoutMs);
  const settled = () => clearTimeout(timer);
  socket.once(encrypted ? 'secureConnect' : 'connect', settled);
  socket.once('close', settled);
  return socket;
}

const memory = createWipedMemory();

/** Values and names, as in a list of every path of a large mount. */
const mostOfAnswer = 200_000;

/** One request and its response. Uses plain callbacks, because it runs at least once for each object stored or read. */

class JsonHttpExchange {
  readonly #request: JsonHttpRequest;
  readonly #agent: http.Agent;
  readonly #maxBytes: number;
  readonly #resolve: (response: JsonHttpResponse) => void;
  readonly #reject: (error: unknown) => void;
  /** A response may contain data keys. */
  readonly #body = new SecretBuffer(memory);
  #outgoing: http.ClientRequest | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    request: JsonHttpRequest,
    agent: http.Agent,
    maxBytes: number,
    resolve: (response: JsonHttpResponse) => void,
    reject: (error: unknown) => void,
  ) {
    this.#request = request;
    this.#agent = agent;
    this.#maxBytes = maxBytes;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  begin(): void {
    const { origin, signal, timeoutMs } = this.#request;
    if (signal?.aborted) return this.#reject(signal.reason);
    signal?.addEventListener('abort', this.#aborted, { once: true });
    const late = () => this.#fail(noneInTime(origin.host, `no complete answer within ${timeoutMs} ms`));
    this.#timer = setTimeout(late, timeoutMs);
    this.#outgoing = limitAnswer(this.#send()).on('error', this.#fail).on('response', this.#receive);
    this.#outgoing.end(this.#request.body);
  }

  #send(): http.ClientRequest {
    const { origin, method, path, headers } = this.#request;
    const { request } = origin.protocol === 'https:' ? https : http;
    const host = origin.hostname.replace(/^\[|\]$/g, '');
    const target = {
      host,
      port: origin.port || null,
      lookup: lookupOf(host),
      servername: serverNameOf(host),
    };
    return request({ ...target, agent: this.#agent, method, path, headers });
  }

  readonly #aborted = (): void => {
    this.#discard();
    this.#reject(this.#request.signal?.reason);
  };

  readonly #fail = (cause: Error): void => {
    this.#discard();
    if (isVaultError(cause)) return this.#reject(cause);
    const code = (cause as NodeJS.ErrnoException).code;
    this.#reject(noAnswer(this.#request.origin.host, code ?? cause.message, cause));
  };

  readonly #receive = (incoming: http.IncomingMessage): void => {
    incoming.on('data', (chunk: Buffer) => this.#keep(chunk));
    incoming.on('error', this.#fail);
    incoming.on('end', () => this.#finish(incoming));
  };

  #keep(chunk: Buffer): void {
    if (this.#body.bytes.length + chunk.length > this.#maxBytes)
      return this.#fail(new Error(`the answer is larger than ${this.#maxBytes} bytes`));
    this.#body.append(chunk);
    chunk.fill(0);
  }

  #finish(incoming: http.IncomingMessage): void {
    this.#settle();
    const status = incoming.statusCode ?? 0;
    try {
      const { location, 'retry-after': header } = incoming.headers;
      const body = this.#parse(incoming, status);
      this.#resolve({ status, body, location, ...retryAfter(header) });
    } catch {
      const { host } = this.#request.origin;
      this.#reject(
        new VaultError('unavailable', `${host} answered ${status} with a body that is not JSON`, { status }),
      );
    } finally {
      this.#body.release();
    }
  }

  #parse(incoming: http.IncomingMessage, status: number): unknown {
    const { bytes } = this.#body;
    if (bytes.length === 0) return undefined;
    const isJson = /^application\/json\b/i.test(incoming.headers['content-type'] ?? '');
    if (status >= 300 && !isJson) return undefined;
    if (!isJson) throw new TypeError('another content type');
    return parseBounded(bytes, { maxParts: mostOfAnswer });
  }

  #discard(): void {
    this.#settle();
    this.#outgoing
      ?.off('error', this.#fail)
      .on('error', () => {})
      .destroy();
    this.#body.release();
  }

  #settle(): void {
    clearTimeout(this.#timer);
    this.#request.signal?.removeEventListener('abort', this.#aborted);
  }
}

export interface JsonHttpRequest {
  readonly method: string;
  /** Scheme, host and port; its path is not used. */
  readonly origin: URL;
  /** Encoded path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly body?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs: number;
}

export interface JsonHttpResponse extends Answered {
  /** Parsed JSON; undefined for an empty body and, with a status of 300 or more, for a body of another type. */
  readonly body: unknown;
  readonly location: string | undefined;
}

/** JSON exchanges over kept connections, limited in time and size. Redirects are returned, not followed. */
export interface JsonHttpClient {
  /** @throws VaultError of kind `unavailable`; the signal's reason when aborted */
  exchange(request: JsonHttpRequest): Promise<JsonHttpResponse>;
  close(): void;
}
