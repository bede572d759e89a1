import type { ServerResponse } from 'node:http';
import { resetSocket } from '../../../runtime/net/reset-socket.ts';
import type { Answer } from '../context.ts';
import { CallerGone } from './caller-gone.ts';

export interface HttpAnswerOptions {
  /** Milliseconds after which a caller that takes nothing is given up. */
  readonly stallMs: number;
  /** Whether another request may follow on the connection; asked once, when the head goes out. */
  readonly mayReuse: () => boolean;
  /** Told what leaves, in bytes. */
  readonly sent?: (bytes: number) => void;
}

/** Bytes handed over at a time, so that a slow caller is told from one that takes nothing. */
const largestWrite = 256 * 1024;
/** Characters of a text that are made bytes at a time. */
const largestText = 64 * 1024;
/** Milliseconds for a caller that takes nothing of a long text: others wait for the memory that it is in. */
const textStallMs = 10_000;

/**
 * An answer over `node:http`. One `write` or `end` at a time; each settles when the
 * bytes have left the process, so that the caller of `write` may use the buffer again.
 */
export class HttpAnswer implements Answer {
  readonly #response: ServerResponse;
  readonly #options: HttpAnswerOptions;
  #stall: NodeJS.Timeout;
  #reject: ((reason: Error) => void) | undefined;
  #broken: Error | undefined;

  constructor(response: ServerResponse, options: HttpAnswerOptions) {
    this.#response = response;
    this.#options = options;
    this.#stall = setTimeout(() => this.#stalled(), options.stallMs).unref();
    response.on('close', () => this.#closed());
    response.on('error', (error) => this.#fail(error));
  }

  get started(): boolean {
    return this.#response.headersSent;
  }

  /** Status that was or will be sent. */
  get status(): number {
    return this.#response.statusCode;
  }

  /** True once everything has been handed over. */
  get ended(): boolean {
    return this.#response.writableEnded;
  }

  head(status: number, headers: Readonly<Record<string, string | string[] | undefined>>): void {
    this.#response.statusCode = status;
    for (const [name, value] of Object.entries(headers)) {
      if (value !== undefined) this.#response.setHeader(name, value);
    }
  }

  /** Takes back headers of an answer that did not come about. */
  forget(which: (name: string) => boolean): void {
    if (this.started) return;
    for (const name of this.#response.getHeaderNames().filter(which)) this.#response.removeHeader(name);
  }

  async write(chunk: Uint8Array): Promise<void> {
    for (let start = 0; start < chunk.length; start += largestWrite) {
      const piece = chunk.length <= largestWrite ? chunk : chunk.subarray(start, start + largestWrite);
      await this.#handOver(piece.length, (done) => this.#response.write(piece, done));
    }
  }

  end(lastChunk?: Uint8Array | string): Promise<void> {
    if (typeof lastChunk === 'string' && lastChunk.length > largestText) return this.#endText(lastChunk);
    if (lastChunk === undefined) return this.#handOver(0, (done) => this.#response.end(done));
    const bytes = typeof lastChunk === 'string' ? Buffer.from(lastChunk) : lastChunk;
    this.#measure(bytes.length);
    return this.#handOver(bytes.length, (done) => this.#response.end(bytes, done));
  }

  async #endText(text: string): Promise<void> {
    this.#measure(Buffer.byteLength(text));
    clearTimeout(this.#stall);
    this.#stall = setTimeout(() => this.#stalled(), Math.min(textStallMs, this.#options.stallMs)).unref();
    for (let start = 0; start < text.length; ) {
      const end = start + largestText - (isHighSurrogate(text.charCodeAt(start + largestText - 1)) ? 1 : 0);
      await this.write(Buffer.from(text.slice(start, end)));
      start = end;
    }
    await this.end();
  }

  destroy(reason: Error): void {
    this.#fail(reason);
    const { socket } = this.#response;
    if (socket) resetSocket(socket);
    else this.#response.destroy();
  }

  /** A body that is whole when its head goes out needs no chunked framing. */
  #measure(bytes: number): void {
    const { statusCode } = this.#response;
    if (
      this.started ||
      this.#response.hasHeader('content-length') ||
      statusCode === 204 ||
      statusCode === 304
    )
      return;
    this.#response.setHeader('content-length', bytes);
  }

  #handOver(bytes: number, send: (done: (error?: Error | null) => void) => void): Promise<void> {
    if (this.#broken) return Promise.reject(this.#broken);
    if (!this.started && !this.#options.mayReuse()) this.#response.setHeader('connection', 'close');
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      this.#stall.refresh();
      send((error) => {
        this.#reject = undefined;
        if (error) return reject(new CallerGone(error));
        this.#options.sent?.(bytes);
        resolve();
      });
    });
  }

  #stalled(): void {
    if (this.#reject) this.destroy(new CallerGone());
  }

  #closed(): void {
    clearTimeout(this.#stall);
    if (!this.#response.writableFinished) this.#fail(new CallerGone());
  }

  #fail(reason: Error): void {
    this.#broken ??= reason;
    this.#reject?.(this.#broken);
    this.#reject = undefined;
  }
}

/** Its other half must be in the same piece. */
const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code < 0xdc00;
