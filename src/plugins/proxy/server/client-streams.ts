import type { IncomingMessage, ServerResponse } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { ResponseWriter } from '../../../objects/context.ts';
import { s3Error } from '../../../objects/s3/error.ts';
import { type BlockBody, textInBlocks } from '../../../runtime/bounds/block-body.ts';
import { release } from '../../../runtime/memory.ts';
import { resetSocket } from '../../../runtime/net/accepted-sockets.ts';

export interface HttpResponseWriterOptions {
  /** Milliseconds after which a caller that reads nothing is disconnected. */
  readonly stallMs: number;
  /** Whether the connection may serve another request; asked once, when the head goes out. */
  readonly mayReuse: () => boolean;
  /** Called with the number of bytes sent. */
  readonly sent?: (bytes: number) => void;
}

/**
 * Bytes written at a time: few enough to tell a slow caller from one that reads nothing. Over TLS all of them are there
 * a second time, encrypted, until the caller takes them.
 */
const maxWriteBytes = { http: 256 * 1024, tls: 64 * 1024 };
/** Characters of a string that are encoded at once. */
const largestText = 64 * 1024;
/** Milliseconds that a caller may read nothing of a long body, since other requests wait for its memory. */
const blocksStallMs = 10_000;

/**
 * A response over `node:http`. Calls of `write` and `end` must not overlap; each settles once the bytes have left the
 * process, so that the buffer may be reused.
 */
export class HttpResponseWriter implements ResponseWriter {
  readonly #response: ServerResponse;
  readonly #options: HttpResponseWriterOptions;
  /** By lower-case name, until the head is sent: one call with all headers costs a fraction of a call for each. */
  readonly #headers = new Map<string, string | string[]>();
  #status = 200;
  #stall: NodeJS.Timeout;
  #reject: ((reason: Error) => void) | undefined;
  #broken: Error | undefined;

  constructor(response: ServerResponse, options: HttpResponseWriterOptions) {
    this.#response = response;
    this.#options = options;
    this.#stall = setTimeout(() => this.#stalled(), options.stallMs).unref();
    response.on('close', () => this.#closed());
    response.on('error', (error) => this.#fail(error));
  }

  get started(): boolean {
    return this.#response.headersSent;
  }

  /** Status sent or to be sent. */
  get status(): number {
    return this.#status;
  }

  /** True once the whole response was handed over. */
  get ended(): boolean {
    return this.#response.writableEnded;
  }

  head(status: number, headers: Readonly<Record<string, string | string[] | undefined>>): void {
    this.#status = status;
    for (const name in headers) {
      const value = headers[name];
      if (value !== undefined) this.#headers.set(name.toLowerCase(), value);
    }
  }

  /** Removes headers of a response that was abandoned. */
  forget(which: (name: string) => boolean): void {
    if (this.started) return;
    for (const name of [...this.#headers.keys()].filter(which)) this.#headers.delete(name);
  }

  async write(chunk: Uint8Array): Promise<void> {
    const max = this.#response.req.socket instanceof TLSSocket ? maxWriteBytes.tls : maxWriteBytes.http;
    for (let start = 0; start < chunk.length; start += max) {
      const piece = chunk.length <= max ? chunk : chunk.subarray(start, start + max);
      await this.#handOver(piece.length, (done) => this.#response.write(piece, done));
    }
  }

  end(lastChunk?: Uint8Array | string | BlockBody): Promise<void> {
    if (lastChunk === undefined) {
      if (this.#response.req.method !== 'HEAD') this.#measure(0);
      return this.#handOver(0, (done) => this.#response.end(done));
    }
    if (typeof lastChunk === 'string')
      return lastChunk.length > largestText
        ? this.#endBlocks(textInBlocks(lastChunk))
        : this.#endBytes(Buffer.from(lastChunk));
    return 'blocks' in lastChunk ? this.#endBlocks(lastChunk) : this.#endBytes(lastChunk);
  }

  #endBytes(bytes: Uint8Array): Promise<void> {
    this.#measure(bytes.length);
    return this.#handOver(bytes.length, (done) => this.#response.end(bytes, done));
  }

  async #endBlocks({ length, blocks }: BlockBody): Promise<void> {
    this.#measure(length);
    clearTimeout(this.#stall);
    this.#stall = setTimeout(() => this.#stalled(), Math.min(blocksStallMs, this.#options.stallMs)).unref();
    for (const block of blocks) {
      await this.write(block);
      release(block);
    }
    await this.end();
  }

  destroy(reason: Error): void {
    this.#fail(reason);
    const { socket } = this.#response;
    if (socket) resetSocket(socket);
    else this.#response.destroy();
  }

  /** A body known in full when its head goes out needs no chunked framing. */
  #measure(bytes: number): void {
    if (this.started || this.#headers.has('content-length') || this.#status === 204 || this.#status === 304)
      return;
    this.#headers.set('content-length', String(bytes));
  }

  #handOver(bytes: number, send: (done: (error?: Error | null) => void) => void): Promise<void> {
    if (this.#broken) return Promise.reject(this.#broken);
    return new Promise((resolve, reject) => {
      if (!this.started) this.#begin();
      this.#reject = reject;
      this.#stall.refresh();
      send((error) => {
        this.#reject = undefined;
        if (error) return reject(new ClientDisconnected(error));
        this.#options.sent?.(bytes);
        resolve();
      });
    });
  }

  /** @throws TypeError for a header that cannot be sent */
  #begin(): void {
    if (!this.#options.mayReuse()) this.#headers.set('connection', 'close');
    const lines: (string | string[])[] = [];
    for (const [name, value] of this.#headers) lines.push(name, value);
    this.#response.writeHead(this.#status, lines as string[]);
  }

  #stalled(): void {
    if (this.#reject) this.destroy(new ClientDisconnected());
  }

  #closed(): void {
    clearTimeout(this.#stall);
    if (!this.#response.writableFinished) this.#fail(new ClientDisconnected());
  }

  #fail(reason: Error): void {
    this.#broken ??= reason;
    this.#reject?.(this.#broken);
    this.#reject = undefined;
  }
}

export interface BodyReaderOptions {
  /** Milliseconds without a byte after which the caller is disconnected. */
  readonly stallMs: number;
  /** Called when the first byte is requested: the moment to answer `Expect: 100-continue`. */
  readonly onStart?: () => void;
  /** Called with the number of bytes received. */
  readonly received?: (bytes: number) => void;
}

/**
 * The raw request body in chunks as received, without copies; a chunk is valid until the next is requested. The
 * connection is read only as fast as chunks are requested.
 * @throws S3Error RequestTimeout; ClientDisconnected
 */
export async function* readRawBody(
  request: IncomingMessage,
  options: BodyReaderOptions,
): AsyncGenerator<Buffer> {
  const inbox = new Inbox(request, options.stallMs);
  options.onStart?.();
  try {
    for (let chunk = await inbox.next(); chunk !== undefined; chunk = await inbox.next()) {
      options.received?.(chunk.length);
      yield chunk;
      release(chunk);
    }
  } finally {
    inbox.close();
  }
}

/**
 * Reads a raw request body of `length` bytes into a buffer of its own; for small bodies, which arrive in one or two
 * reads.
 * @throws S3Error RequestTimeout, IncompleteBody; ClientDisconnected
 */
export function readWholeBody(
  request: IncomingMessage,
  length: number,
  { stallMs, onStart, received }: BodyReaderOptions,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const body = Buffer.allocUnsafeSlow(length);
    let filled = 0;
    const stall = setTimeout(() => settle(s3Error('RequestTimeout')), stallMs).unref();
    const take = (chunk: Buffer) => {
      stall.refresh();
      if (filled + chunk.length > length) return settle(s3Error('IncompleteBody'));
      body.set(chunk, filled);
      filled += chunk.length;
      received?.(chunk.length);
      release(chunk);
    };
    const ended = () => settle(filled === length ? undefined : s3Error('IncompleteBody'));
    const broke = (error?: Error) => settle(new ClientDisconnected(error));
    const settle = (failure: Error | undefined) => {
      clearTimeout(stall);
      request.off('data', take).off('end', ended).off('error', broke).off('close', broke);
      if (failure === undefined) return resolve(body);
      request.pause();
      reject(failure);
    };
    if (request.destroyed) return broke();
    onStart?.();
    request.on('end', ended).on('error', broke).on('close', broke).on('data', take);
  });
}

class Inbox {
  readonly #request: IncomingMessage;
  readonly #stall: NodeJS.Timeout;
  readonly #listeners: readonly (readonly [event: string, listener: (value?: never) => void])[];
  readonly #chunks: Buffer[] = [];
  #ended = false;
  #failure: Error | undefined;
  #wake: (() => void) | undefined;

  constructor(request: IncomingMessage, stallMs: number) {
    this.#request = request;
    this.#listeners = [
      ['data', (chunk?: never) => this.#take(chunk as unknown as Buffer)],
      ['end', () => this.#settle(undefined)],
      ['error', (error?: never) => this.#settle(new ClientDisconnected(error))],
      ['close', () => this.#ended || this.#settle(new ClientDisconnected())],
    ];
    this.#stall = setTimeout(() => this.#stalled(), stallMs).unref();
    if (request.readableEnded) this.#ended = true;
    else if (request.destroyed) this.#failure = new ClientDisconnected();
    for (const [event, listener] of this.#listeners) request.on(event, listener);
    request.pause();
  }

  async next(): Promise<Buffer | undefined> {
    if (this.#chunks.length === 0 && !this.#ended && !this.#failure) await this.#arrival();
    const chunk = this.#chunks.shift();
    if (chunk === undefined && this.#failure) throw this.#failure;
    return chunk;
  }

  close(): void {
    clearTimeout(this.#stall);
    for (const [event, listener] of this.#listeners) this.#request.off(event, listener);
  }

  #arrival(): Promise<void> {
    this.#stall.refresh();
    return new Promise((resolve) => {
      this.#wake = resolve;
      this.#request.resume();
    });
  }

  #take(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#request.pause();
    this.#awaken();
  }

  /** A caller is slow only while this process waits for it. */
  #stalled(): void {
    if (this.#wake) this.#settle(s3Error('RequestTimeout'));
  }

  #settle(failure: Error | undefined): void {
    if (this.#ended) return;
    if (failure === undefined) this.#ended = true;
    else this.#failure ??= failure;
    this.#awaken();
  }

  #awaken(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}

/** The caller closed the connection, or it was broken on purpose; nobody is left to answer. */
export class ClientDisconnected extends Error {
  override readonly name = 'ClientDisconnected';

  constructor(cause?: unknown) {
    super('the caller has gone away', cause === undefined ? undefined : { cause });
  }
}
