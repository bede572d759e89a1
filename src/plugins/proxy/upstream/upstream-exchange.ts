import { type ClientRequest, Agent as HttpAgent, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, type RequestOptions } from 'node:https';
import { connect as connectTcp, type NetConnectOpts, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { resetSocket } from '../../../runtime/net/connections.ts';
import { AnsweredEarly, isClosed, UpstreamError } from './upstream.ts';

/**
 * Two turns of the event loop, each of which reads what has come. A store that refuses a body
 * answers and closes; a write that meets the closed connection would lose the answer with it.
 */
const arrivals = () => new Promise((resolve) => setImmediate(setImmediate, resolve));

/** A request of `node:http` with the bounds and the reset that it lacks. */
export class HttpUpstreamExchange implements UpstreamExchange {
  readonly response: Promise<IncomingMessage>;
  readonly #settle = Promise.withResolvers<IncomingMessage>();
  readonly agreed: Promise<void>;
  readonly #request: ClientRequest;
  readonly #limits: UpstreamLimits;
  #failure: Error | undefined;
  #answer: IncomingMessage | undefined;
  #ended = false;
  /** Settles the write that waits for the connection. */
  #wake: (() => void) | undefined;

  constructor(request: ClientRequest, limits: UpstreamLimits, signal: AbortSignal | undefined) {
    this.#request = request;
    this.#limits = limits;
    this.response = this.#settle.promise;
    this.response.catch(() => undefined);
    this.#expectAnswer();
    const connected = this.#connected();
    this.agreed = this.#agreement(connected);
    this.#abortWith(signal);
  }

  get stale(): boolean {
    return this.#request.reusedSocket && !this.#answer && isClosed(this.#failure);
  }

  async write(buffer: Uint8Array): Promise<void> {
    await arrivals();
    this.#check();
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      this.#request.write(buffer, () => resolve());
    });
    this.#wake = undefined;
    this.#check();
  }

  end(buffers: readonly Uint8Array[]): void {
    this.#check();
    this.#ended = true;
    this.#request.cork();
    for (const buffer of buffers) this.#request.write(buffer);
    this.#request.end();
    this.#request.uncork();
  }

  reset(reason: Error): void {
    this.#fail(reason);
    const { socket } = this.#request;
    if (socket && !socket.destroyed) resetConnection(socket);
    this.#answer?.destroy(reason);
    this.#request.destroy(reason);
  }

  #check(): void {
    if (this.#answer) throw new AnsweredEarly();
    if (this.#failure) throw this.#failure;
  }

  /** Rejects here too: a request that waits for a connection emits no error before it gets one. */
  #fail(error: Error): void {
    this.#failure ??= error;
    this.#settle.reject(this.#failure);
    this.#wake?.();
  }

  #expectAnswer(): void {
    this.#request.on('error', (error) => this.#fail(error));
    this.#request.once('close', () => {
      if (!this.#answer) this.#fail(new UpstreamError('ECONNRESET', 'the store closed the connection'));
    });
    this.#request.once('response', (answer: IncomingMessage) => {
      this.#answer = answer;
      if (!this.#ended) this.#resetAfter(answer);
      this.#settle.resolve(answer);
      this.#wake?.();
    });
  }

  /** What is left of the body will not be sent: the connection cannot serve another request. */
  #resetAfter(answer: IncomingMessage): void {
    const reset = () => this.reset(new AnsweredEarly());
    answer.once('end', reset);
    answer.once('close', reset);
  }

  #connected(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const late = () => this.reset(new UpstreamError('ETIMEDOUT', 'no connection to the store in time'));
    const timer = setTimeout(late, this.#limits.connectMs);
    const done = () => {
      clearTimeout(timer);
      resolve();
    };
    this.#request.once('close', done);
    this.#request.once('socket', (socket: Socket) => {
      this.#watchIdle(socket);
      whenConnected(socket, done);
    });
    return promise;
  }

  async #agreement(connected: Promise<void>): Promise<void> {
    if (!this.#request.hasHeader('expect')) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#request.once('continue', resolve);
    this.response.then(
      () => resolve(),
      () => resolve(),
    );
    await connected;
    const timer = setTimeout(resolve, this.#limits.continueMs);
    await promise;
    clearTimeout(timer);
  }

  /**
   * Two looks in a row: a caller that takes what waited here just before a look leaves nothing
   * behind either, and the store may be about to send more.
   */
  #watchIdle(socket: Socket): void {
    const lookMs = this.#limits.idleMs / 2;
    let silentSince = -1;
    const look = () => {
      const moved = socket.bytesRead + socket.bytesWritten;
      const silent = this.#awaitsStore();
      if (silent && moved === silentSince)
        return this.reset(new UpstreamError('ETIMEDOUT', 'the store has sent nothing for long'));
      silentSince = silent ? moved : -1;
      socket.setTimeout(lookMs);
    };
    socket.setTimeout(lookMs);
    socket.on('timeout', look);
    this.#request.once('close', () => socket.off('timeout', look));
  }

  /** False while it is a slow caller that keeps the connection quiet, sending or taking. */
  #awaitsStore(): boolean {
    if (this.#answer) return this.#answer.readableLength === 0;
    return this.#ended || this.#wake !== undefined;
  }

  #abortWith(signal: AbortSignal | undefined): void {
    if (!signal) return;
    const abort = () => this.reset(signal.reason);
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    this.#request.once('close', () => signal.removeEventListener('abort', abort));
  }
}

/** Head of a request as it goes on the wire: signed, with its framing headers. */
export interface UpstreamRequestHead {
  readonly method: string;
  /** Path and query of the request line. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * One request on its way over one connection. Failures reject with what the
 * operating system or a timeout said; `upstream.ts` puts them into S3's words.
 */
export interface UpstreamExchange {
  /** The head of the store's answer, whenever it comes; early answers to bodies included. */
  readonly response: Promise<IncomingMessage>;
  /** Resolves when the store agrees to a body that was announced by `Expect: 100-continue`, has answered, or says nothing for long. */
  readonly agreed: Promise<void>;
  /** True when a kept connection turned out to be closed by the store: the request was not seen. */
  readonly stale: boolean;
  /**
   * Resolves when the operating system has the buffer, which may be changed then.
   * @throws AnsweredEarly when the store has answered already
   */
  write(buffer: Uint8Array): Promise<void>;
  /** @throws AnsweredEarly when the store has answered already */
  end(buffers: readonly Uint8Array[]): void;
  /** Resets the connection. Safe at any time. */
  reset(reason: Error): void;
}

/** Opens requests to one endpoint. */
export interface UpstreamConnector {
  open(head: UpstreamRequestHead, signal: AbortSignal | undefined): UpstreamExchange;
  close(): void;
}

/** The TCP connection below a TLS one, which alone can be reset. */
const carriers = new WeakMap<object, Socket>();

/** Kept-alive connections to the store. `ca`: PEM certificates to trust in place of Node's own. */
export function createAgent(
  secure: boolean,
  limits: UpstreamLimits,
  ca: string | undefined,
): HttpAgent | HttpsAgent {
  const options = {
    keepAlive: true,
    maxSockets: limits.sockets,
    maxFreeSockets: limits.sockets,
    scheduling: 'lifo',
    timeout: limits.keptMs,
  } as const;
  if (!secure) return new HttpAgent(options);
  // said outright, because NODE_TLS_REJECT_UNAUTHORIZED=0 would decide otherwise
  return new ResettableTlsAgent({ ...options, ...(ca && { ca }), rejectUnauthorized: true });
}

type Created = (error: Error | null, socket: Duplex) => void;

/** Connects in two steps, because Node cannot reset a TLS connection that it has opened in one. */
class ResettableTlsAgent extends HttpsAgent {
  #session: Buffer | undefined;

  override createConnection(options: RequestOptions, created?: Created): undefined {
    const carrier = connectTcp(options as NetConnectOpts);
    const refused = (error: Error) => created?.(error, carrier);
    carrier.once('error', refused);
    carrier.once('connect', () => {
      carrier.off('error', refused);
      const session = this.#session && { session: this.#session };
      const socket = connectTls({ ...(options as object), ...session, socket: carrier });
      socket.on('session', (ticket) => {
        this.#session = ticket;
      });
      carriers.set(socket, carrier);
      created?.(null, socket);
    });
  }
}

/** Calls `done` when the connection stands, the TLS handshake included. */
function whenConnected(socket: Socket | TLSSocket, done: () => void): void {
  if ('secureConnecting' in socket && socket.secureConnecting) socket.once('secureConnect', done);
  else if (socket.connecting) socket.once('connect', done);
  else done();
}

/** Ends a connection by RST, so that what was sent on it cannot be taken for a whole request. */
const resetConnection = (socket: Socket): void => resetSocket(socket, carriers.get(socket));

/** Bounds on requests to the store; times in milliseconds. */
export interface UpstreamLimits {
  /** Connections at a time; further requests wait for one within `connectMs`. */
  readonly sockets: number;
  /** Until a connection stands, the wait for a free one and the TLS handshake included. */
  readonly connectMs: number;
  /** Without a byte from the store while it is the store's turn. */
  readonly idleMs: number;
  /** How long an unused connection is kept. */
  readonly keptMs: number;
  /** For the store to agree to a large body before it is sent all the same. */
  readonly continueMs: number;
}

export const wireLimits: UpstreamLimits = {
  sockets: 128,
  connectMs: 10_000,
  idleMs: 60_000,
  keptMs: 15_000,
  continueMs: 1_000,
};
