import type { ResponseHead, ResponseHeaders } from '../../../core/http1.ts';
import { s3Error } from '../../../core/s3/error.ts';
import { type ClientLimits, Http1Client, timedOut, type Watched } from '../../../runtime/net/http1-client.ts';
import type {
  Http1Connection,
  HttpTarget,
  ResponseHandler,
  WriteCallback,
} from '../../../runtime/net/http1-connection.ts';
import { ResponseBody } from '../../../runtime/net/http1-response-body.ts';
import { AnsweredEarly } from './upstream.ts';

/** Requests to one store. */
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
 * Two turns of the event loop, each of which reads what has come. A store that refuses a body
 * answers and closes; a write that meets the closed connection would lose the answer with it.
 */
const arrivals = () => new Promise((resolve) => setImmediate(setImmediate, resolve));

/** A request of the raw client with the bounds that a store needs. */
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
  /** What waits for a connection. */
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
  /** Settles the write that waits for the connection. */
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
    // before there is a connection: what is wrong with it concerns whoever asked, and not whoever used that connection last
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

  /** For the client. */
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

  /** Where the body was not sent to its end, the connection is reset by itself. */
  ended(): void {
    this.#release();
    this.#body?.ended();
  }

  /** Rejects here too: a request that waits for a connection gets no answer before it has one. */
  failed(error: Error, unseen = false): void {
    this.#unseen = unseen && this.#body === undefined;
    this.#failure ??= error;
    this.#release();
    this.#settle.reject(this.#failure);
    this.#agreement?.resolve();
    this.#wake?.();
    this.#body?.failed(error);
  }

  /** A store that is silent while it is its turn is given up; one that says nothing to a question gets the body. */
  look(now: number): void {
    const connection = this.#connection;
    if (connection === undefined) return;
    if (now >= this.#agreeBy) this.#agreement?.resolve();
    const { moved } = connection;
    if (!this.#awaitsStore() || moved !== this.#moved) {
      this.#moved = moved;
      this.#stillSince = now;
    } else if (now - this.#stillSince >= this.#limits.idleMs) {
      this.reset(timedOut('the store has sent nothing for long'));
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

  /** False while it is a slow caller that keeps the connection quiet, sending or taking. */
  #awaitsStore(): boolean {
    if (this.#body) return this.#body.waiting === 0;
    return this.#ended || this.#wake !== undefined;
  }
}

const broken = (cause: Error | undefined): Error =>
  s3Error('ServiceUnavailable', 'The connection to the object store broke while it was read.', { cause });

/** Bodies up to this size leave in one piece with the head before them, in bytes. */
const joinedBytes = 64 * 1024;

/** Head and body, together where copying costs less than a second piece. */
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

/** What ends a line or a head before its time. Values are byte strings; the signer has normalized their blanks. */
const unfit = /[^\t\x20-\x7e\x80-\xff]/;
const unfitTarget = /[^\x21-\x7e]/;
const fieldName = /^[\w!#$%&'*+\-.^`|~]+$/;

/** @throws TypeError for what would break out of its line */
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

/** Head of a request as it goes on the wire: signed, with its framing headers. */
export interface UpstreamRequestHead {
  readonly method: string;
  /** Path and query of the request line. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The head of the store's answer, with its body on the way. */
export interface StoreResponse {
  readonly status: number;
  readonly headers: ResponseHeaders;
  /** Must be consumed or destroyed. */
  readonly body: ResponseBody;
}

/**
 * One request on its way over one connection. Failures reject with what the
 * operating system or a timeout said; `s3-upstream.ts` puts them into S3's words.
 */
export interface UpstreamExchange {
  /** The head of the store's answer, whenever it comes; early answers to bodies included. */
  readonly response: Promise<StoreResponse>;
  /** Resolves when the store agrees to a body that was announced by `Expect: 100-continue`, has answered, or says nothing for long. */
  readonly agreed: Promise<void>;
  /** True when a kept connection turned out to be closed by the store: the request was not seen. */
  readonly stale: boolean;
  /**
   * Resolves when the operating system has the buffer, which may be changed then.
   * @throws AnsweredEarly when the store has answered already
   */
  write(buffer: Uint8Array): Promise<void>;
  /**
   * @param taken called when the operating system has the buffers, which may be changed then
   * @throws AnsweredEarly when the store has answered already
   */
  end(buffers: readonly Uint8Array[], taken: () => void): void;
  /** Resets the connection. Safe at any time. */
  reset(reason: Error): void;
}

/** Opens requests to one endpoint. */
export interface UpstreamConnector {
  /** @param body all of it; undefined where it will be written */
  open(head: UpstreamRequestHead, signal: AbortSignal | undefined, body?: Uint8Array): UpstreamExchange;
  close(): void;
}

/** Bounds on requests to the store; times in milliseconds. */
export interface UpstreamLimits extends ClientLimits {
  /** Without a byte from the store while it is the store's turn. */
  readonly idleMs: number;
  /** For the store to agree to a large body before it is sent all the same. */
  readonly continueMs: number;
}

export const storeLimits: UpstreamLimits = {
  sockets: 128,
  connectMs: 10_000,
  idleMs: 60_000,
  keptMs: 15_000,
  continueMs: 1_000,
};
