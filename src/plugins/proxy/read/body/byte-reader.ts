import type { IncomingMessage } from 'node:http';
import { s3Error } from '../../../../core/s3/error-catalog.ts';

/** Pulled ahead of the reader before the connection is paused. */
const highWater = 64 * 1024;

/** Pulls exact stretches of bytes out of a store's answer, with back-pressure. */
export class ByteReader {
  readonly #stream: IncomingMessage;
  readonly #queue: Buffer[] = [];
  #queued = 0;
  #ended = false;
  #failure: Error | undefined;
  #wake: (() => void) | undefined;

  constructor(stream: IncomingMessage) {
    this.#stream = stream;
    stream.on('data', (chunk: Buffer) => this.#push(chunk));
    stream.once('end', () => this.#finish());
    stream.once('error', (error: Error) => this.#fail(error));
    stream.once('close', () => this.#fail(undefined));
    // What broke while nobody read, as while keys were being asked for, is told by no event any more.
    if (stream.destroyed) this.#fail(stream.errored ?? undefined);
    stream.pause();
  }

  /** At least one byte and at most `max`, or undefined at the end. @throws S3Error 503 when the connection was cut. */
  async next(max: number): Promise<Buffer | undefined> {
    while (this.#queue.length === 0) {
      if (this.#failure) throw this.#failure;
      if (this.#ended) return undefined;
      await this.#arrival();
    }
    return this.#shift(max);
  }

  /** Exactly `length` bytes (small), or undefined when the body ends before. */
  async exact(length: number): Promise<Buffer | undefined> {
    const pieces: Buffer[] = [];
    for (let missing = length; missing > 0; ) {
      const piece = await this.next(missing);
      if (piece === undefined) return undefined;
      pieces.push(piece);
      missing -= piece.length;
    }
    return pieces.length === 1 ? pieces[0] : Buffer.concat(pieces);
  }

  /** A connection that has given the whole body is kept for others, any other is closed. */
  close(): void {
    if (this.#stream.complete) this.#stream.resume();
    else this.#stream.destroy();
  }

  #push(chunk: Buffer): void {
    this.#queue.push(chunk);
    this.#queued += chunk.length;
    if (this.#queued >= highWater) this.#stream.pause();
    this.#wake?.();
  }

  #finish(): void {
    this.#ended = true;
    this.#wake?.();
  }

  #fail(cause: Error | undefined): void {
    if (this.#ended) return;
    this.#failure ??= s3Error(
      'ServiceUnavailable',
      'The connection to the object store broke while it was read.',
      {
        cause,
      },
    );
    this.#wake?.();
  }

  #arrival(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    this.#stream.resume();
    return promise;
  }

  #shift(max: number): Buffer {
    const first = this.#queue[0] as Buffer;
    const piece = first.length <= max ? first : first.subarray(0, max);
    if (piece === first) this.#queue.shift();
    else this.#queue[0] = first.subarray(max);
    this.#queued -= piece.length;
    return piece;
  }
}
