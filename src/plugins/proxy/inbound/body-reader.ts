import type { IncomingMessage } from 'node:http';
import { s3Error } from '../../../core/s3/error-catalog.ts';
import { CallerGone } from '../server/caller-gone.ts';

export interface BodyReaderOptions {
  /** Milliseconds without a byte after which the caller is given up. */
  readonly stallMs: number;
  /** Called when the first byte is asked for: the moment to answer `Expect: 100-continue`. */
  readonly onStart?: () => void;
}

/**
 * The raw body of a request in the chunks in which it came, without copies. The
 * connection is read only as fast as chunks are asked for.
 * @throws S3Error RequestTimeout, CallerGone
 */
export async function* readRawBody(
  request: IncomingMessage,
  options: BodyReaderOptions,
): AsyncGenerator<Buffer> {
  const inbox = new Inbox(request, options.stallMs);
  options.onStart?.();
  try {
    for (let chunk = await inbox.next(); chunk !== undefined; chunk = await inbox.next()) yield chunk;
  } finally {
    inbox.close();
  }
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
      ['error', (error?: never) => this.#settle(new CallerGone(error))],
      ['close', () => this.#ended || this.#settle(new CallerGone())],
    ];
    this.#stall = setTimeout(() => this.#stalled(), stallMs).unref();
    if (request.readableEnded) this.#ended = true;
    else if (request.destroyed) this.#failure = new CallerGone();
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

  /** Only a caller that we wait for is slow. */
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
