import type { ResponseHead, ResponseHeaders } from '../../runtime/net/http1.ts';
import { type ClientLimits, Http1Client, timedOut, type Watched } from '../net/http1-client.ts';
import type { Http1Connection, HttpTarget, ResponseHandler, WriteCallback } from '../net/http1-connection.ts';
import { ResponseBody } from '../net/http1-response-body.ts';
import { s3Error } from '../s3/error.ts';
import { AnsweredEarly } from './upstream.ts';

export function createConnector(target: HttpTarget, limits: UpstreamLimits): UpstreamConnector {
  const client = new Http1Client(target, limits, Math.min(limits.idleMs, limits.continueMs));
  return {
    open: (head, signal, body) => {
      signal?.throwIfAborted();
      return new HttpUpstreamExchange(client, limits, head, signal, body);
    },
    close: () => client.close(),
  };
}

/**
 * Two turns of the event loop, each of which reads pending input. A store that refuses a body answers and closes; a
 * write to the closed connection would lose that answer.
 */
const arrivals = () => new Promise((resolve) => setImmediate(setImmediate, resolve));

/** A request over the raw client, with the time limits for a store. */
class HttpUpstreamExchange implements UpstreamExchange, ResponseHandler, Watched {
  readonly response: Promise<StoreResponse>;
  readonly #settle = Promise.withResolvers<StoreResponse>();
  readonly #client: Http1Client;
  readonly #limits: UpstreamLimits;
  readonly #head: UpstreamRequestHead;
  readonly #headText: string;
  readonly #signal: AbortSignal | undefined;
  readonly #leaveQueue: () => void;
  #connection: Http1Connection | undefined;
  /** Bytes that wait for a connection. */
  #unsent:
    | { readonly buffers: readonly Uint8Array[]; readonly last: boolean; readonly done: WriteCallback }
    | undefined;
  #body: ResponseBody | undefined;
  #failure: Error | undefined;
  #ended: boolean;
  #complete = false;
  #unseen = false;
  #agreement: PromiseWithResolvers<void> | undefined;
  #agreeBy = Number.POSITIVE_INFINITY;
  /** Settles a write that waits for the connection. */
  #wake: (() => void) | undefined;
  #moved = -1;
  #stillSince = 0;

  constructor(
    client: Http1Client,
    limits: UpstreamLimits,
    head: UpstreamRequestHead,
    signal: AbortSignal | undefined,
    body: Uint8Array | undefined,
  ) {
    this.#client = client;
    this.#limits = limits;
    this.#head = head;
    // checked before a connection is taken, so that errors concern this request and not an earlier user of the
    // connection
    this.#headText = headText(head);
    this.#signal = signal;
    this.#ended = body !== undefined;
    this.response = this.#settle.promise;
    this.response.catch(() => undefined);
    if (body !== undefined) this.#unsent = { buffers: [body], last: true, done: () => undefined };
    signal?.addEventListener('abort', this.#aborted, { once: true });
    client.watch(this);
    this.#leaveQueue = client.acquire(this);
  }

  get agreed(): Promise<void> {
    if (this.#head.headers['expect'] === undefined || this.#isSettled()) return Promise.resolve();
    this.#agreement ??= Promise.withResolvers();
    return this.#agreement.promise;
  }

  get stale(): boolean {
    return this.#unseen;
  }

  async write(buffer: Uint8Array): Promise<void> {
    await arrivals();
    this.#check();
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      this.#send([buffer], false, () => resolve());
    });
    this.#wake = undefined;
    this.#check();
  }

  end(buffers: readonly Uint8Array[], taken: () => void): void {
    this.#check();
    this.#ended = true;
    this.#send(buffers, true, (error) => error || taken());
  }

  reset(reason: Error): void {
    if (this.#complete) return;
    this.#leaveQueue();
    if (this.#connection === undefined) this.failed(reason, false);
    else this.#connection.reset(reason);
  }

  connected(connection: Http1Connection): void {
    const { method } = this.#head;
    const { buffers = [], last = false, done } = this.#unsent ?? {};
    this.#connection = connection;
    this.#unsent = undefined;
    this.#agreeBy = performance.now() + this.#limits.continueMs;
    connection.begin(this, method === 'HEAD', joined(this.#headText, buffers), last, done);
  }

  continued(): void {
    this.#agreement?.resolve();
  }

  head({ status, headers }: ResponseHead): void {
    const connection = this.#connection as Http1Connection;
    const body = new ResponseBody(
      {
        pause: () => connection.pause(),
        resume: () => connection.resume(),
        reset: (reason) => this.reset(reason),
      },
      broken,
    );
    this.#body = body;
    this.#agreement?.resolve();
    this.#settle.resolve({ status, headers, body });
    this.#wake?.();
  }

  data(bytes: Buffer): void {
    this.#body?.push(bytes);
  }

  /** If the body was not sent in full, the connection resets itself. */
  ended(): void {
    this.#release();
    this.#body?.ended();
  }

  /** Rejects the response too, because a request that waits for a connection would never get one. */
  failed(error: Error, unseen = false): void {
    this.#unseen = unseen && this.#body === undefined;
    this.#failure ??= error;
    this.#release();
    this.#settle.reject(this.#failure);
    this.#agreement?.resolve();
    this.#wake?.();
    this.#body?.failed(error);
  }

  /**
   * Gives up a store that is silent while it is the store's turn, and sends the body if the store does not answer
   * `Expect: 100-continue`.
   */
  look(now: number): void {
    const connection = this.#connection;
    if (connection === undefined) return;
    if (now >= this.#agreeBy) this.#agreement?.resolve();
    const { moved } = connection;
    if (!this.#awaitsStore() || moved !== this.#moved) {
      this.#moved = moved;
      this.#stillSince = now;
    } else if (now - this.#stillSince >= this.#limits.idleMs) {
      this.reset(timedOut('the store has sent nothing for too long'));
    }
  }

  #send(buffers: readonly Uint8Array[], last: boolean, done: WriteCallback): void {
    if (this.#connection === undefined) this.#unsent = { buffers, last, done };
    else this.#connection.write(buffers, last, done);
  }

  #check(): void {
    if (this.#body) throw new AnsweredEarly();
    if (this.#failure) throw this.#failure;
  }

  #isSettled(): boolean {
    return this.#body !== undefined || this.#failure !== undefined;
  }

  #release(): void {
    this.#complete = true;
    this.#client.unwatch(this);
    this.#signal?.removeEventListener('abort', this.#aborted);
  }

  readonly #aborted = (): void => this.reset(this.#signal?.reason);

  /** False while a slow caller is the reason why the connection is quiet, in either direction. */
  #awaitsStore(): boolean {
    if (this.#body) return this.#body.waiting === 0;
    return this.#ended || this.#wake !== undefined;
  }
}

const broken = (cause: Error | undefined): Error =>
  s3Error('ServiceUnavailable', 'The connection to the object store broke while it was read.', { cause });

/** Bytes up to which a body is sent in one piece with its head. */
const joinedBytes = 64 * 1024;

/** Head and body, joined if copying costs less than a second write. */
function joined(head: string, buffers: readonly Uint8Array[]): readonly Uint8Array[] {
  let size = 0;
  for (const { length } of buffers) size += length;
  if (size > joinedBytes) return [Buffer.from(head, 'latin1'), ...buffers];
  const message = Buffer.allocUnsafe(head.length + size);
  let at = message.write(head, 'latin1');
  for (const buffer of buffers) {
    message.set(buffer, at);
    at += buffer.length;
  }
  return [message];
}

/**
 * Characters that would end a line or the head early. Values are byte strings; the signer has normalized their blanks.
 */
const unfit = /[^\t\x20-\x7e\x80-\xff]/;
const unfitTarget = /[^\x21-\x7e]/;
const fieldName = /^[\w!#$%&'*+\-.^`|~]+$/;

/** @throws TypeError for characters that would break out of their line */
function headText({ method, target, headers }: UpstreamRequestHead): string {
  let text = `${method} ${target} HTTP/1.1\r\n`;
  if (unfitTarget.test(target)) throw new TypeError('a request target has a character that is not encoded');
  for (const name in headers) {
    const value = headers[name] as string;
    if (unfit.test(value) || !fieldName.test(name))
      throw new TypeError(`the header ${JSON.stringify(name)} cannot be sent`);
    text += `${name}: ${value}\r\n`;
  }
  return `${text}\r\n`;
}

/** A request head as sent: signed, with framing headers. */
export interface UpstreamRequestHead {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Head of the store's response; its body is still arriving. */
export interface StoreResponse {
  readonly status: number;
  readonly headers: ResponseHeaders;
  /** Must be consumed or destroyed. */
  readonly body: ResponseBody;
}

/**
 * One request over one connection. Failures reject with errors of the operating system or a timeout, which
 * `s3-upstream.ts` converts to S3Errors.
 */
export interface UpstreamExchange {
  /** Head of the store's response, whenever it arrives, even before the body was sent. */
  readonly response: Promise<StoreResponse>;
  /**
   * Resolves when the store agrees to a body announced by `Expect: 100-continue`, has answered, or stays silent for too
   * long.
   */
  readonly agreed: Promise<void>;
  /** True if the store had closed a reused connection, and so has not seen the request. */
  readonly stale: boolean;
  /**
   * Resolves when the operating system has taken the buffer, which may then be changed.
   * @throws AnsweredEarly if the store has already answered
   */
  write(buffer: Uint8Array): Promise<void>;
  /**
   * @param taken called when the operating system has taken the buffers, which may then be changed
   * @throws AnsweredEarly if the store has already answered
   */
  end(buffers: readonly Uint8Array[], taken: () => void): void;
  /** Resets the connection. Safe at any time. */
  reset(reason: Error): void;
}

/** Opens requests to one endpoint. */
export interface UpstreamConnector {
  /** @param body the whole body; undefined if it will be written later */
  open(head: UpstreamRequestHead, signal: AbortSignal | undefined, body?: Uint8Array): UpstreamExchange;
  close(): void;
}

/** Bounds on requests to the store; times in milliseconds. */
export interface UpstreamLimits extends ClientLimits {
  /** Time without a byte from the store while it is the store's turn. */
  readonly idleMs: number;
  /** Time to wait for the store to agree to a large body, which is then sent regardless. */
  readonly continueMs: number;
}

export const storeLimits: UpstreamLimits = {
  sockets: 128,
  connectMs: 10_000,
  idleMs: 60_000,
  keptMs: 15_000,
  continueMs: 1_000,
};
