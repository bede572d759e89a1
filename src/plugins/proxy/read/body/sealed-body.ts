import type { IncomingMessage } from 'node:http';
import {
  type Decryption,
  decryptBody,
  EnvelopeError,
  nonceBytes,
  tagBytes,
} from '../../../../core/envelope/cipher.ts';
import type { PartEntry } from '../../../../core/envelope/manifest.ts';
import { s3Error } from '../../../../core/s3/error.ts';
import { droppedBuffers } from '../../../../runtime/memory.ts';
import type { DataKeys } from '../../data-keys.ts';
import type { StoredObject } from '../stored-object.ts';

/** One stored body: an object in one piece, or one part. */
export interface SealedBody {
  /** Plaintext bytes. */
  readonly size: number;
  /** The nonce that the part list names; the stored one must be the same. */
  readonly nonce: Buffer | undefined;
}

export const sealedPart = ({ size, nonce }: PartEntry): SealedBody => ({
  size,
  nonce: Buffer.from(nonce, 'base64'),
});

/** What is wanted of a body's plaintext. */
export interface Slice {
  readonly skip: number;
  readonly take: number;
}

/** Gives the DEK of a body once; whoever takes it zeroes it. */
export type TakeKey = () => Promise<Buffer>;

/** @throws EnvelopeError `wrong-size` or `authentication-failed` for a nonce other than the part list's. */
export async function readNonce(reader: ByteReader, body: SealedBody): Promise<Buffer> {
  const nonce = await reader.exact(nonceBytes);
  if (nonce === undefined) throw cut();
  if (body.nonce === undefined || nonce.equals(body.nonce)) return nonce;
  throw new EnvelopeError('authentication-failed', 'a part does not begin with the nonce of its part list');
}

/** Reads the nonce and sets the cipher up, which the caller discards; the DEK is gone when this returns. */
export async function openSealed(
  reader: ByteReader,
  body: SealedBody,
  takeKey: TakeKey,
): Promise<Decryption & { readonly nonce: Buffer }> {
  const nonce = Buffer.from(await readNonce(reader, body));
  const dek = await takeKey();
  try {
    return { nonce, ...decryptBody(dek, nonce) };
  } finally {
    dek.fill(0);
  }
}

/** The body's ciphertext, chunk by chunk; each leaves itself and what the cipher made of it behind. @throws EnvelopeError `wrong-size` when it ends before its time. */
export async function* ciphertext(reader: ByteReader, size: number): AsyncGenerator<Buffer, void> {
  for (let missing = size; missing > 0; ) {
    const chunk = await reader.next(missing);
    if (chunk === undefined) throw cut();
    missing -= chunk.length;
    yield chunk;
    droppedBuffers(2 * chunk.length);
  }
}

/** @throws EnvelopeError `authentication-failed`, `wrong-size`. */
export async function verifyTag(reader: ByteReader, decryption: Decryption): Promise<void> {
  const tag = await reader.exact(tagBytes);
  if (tag === undefined) throw cut();
  decryption.verify(tag);
}

/** The part of `chunk`, which begins at `offset` of the body's plaintext, that lies in the slice. */
export function within(chunk: Buffer, offset: number, { skip, take }: Slice): Buffer {
  const from = Math.min(Math.max(skip - offset, 0), chunk.length);
  const to = Math.min(Math.max(skip + take - offset, from), chunk.length);
  return chunk.subarray(from, to);
}

const cut = () => new EnvelopeError('wrong-size', 'the stored body ends before its metadata says');

/** The DEK of an object in one piece. */
export function singleKey(keys: DataKeys, object: StoredObject, signal: AbortSignal): TakeKey {
  return async () => {
    const { envelope } = object;
    if (envelope?.keys.form !== 'single') throw new TypeError('the object has no single key');
    const item = { wrapped: envelope.keys.dek, purpose: { kind: 'object' } } as const;
    const [key] = await keys.unwrap(object.name, envelope, [item], signal);
    return key as Buffer;
  };
}

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
