import { createHash, type Hash, hash, type KeyObject } from 'node:crypto';
import type { ChunkObserver } from './chunk-decoder.ts';
import { s3Error } from './error-catalog.ts';
import { hmacHex } from './sigv4-key.ts';
import { sameHex } from './timing-safe.ts';

/** What ties a body's chunk signatures to its request; `seed` is the signature of the request's head. */
export interface ChunkSigningContext {
  readonly signingKey: KeyObject;
  /** ISO basic, `20130524T000000Z`. */
  readonly timestamp: string;
  /** `20130524/us-east-1/s3/aws4_request` */
  readonly scope: string;
  readonly seed: string;
}

const emptySha256 = hash('sha256', '', 'hex');

/** The chain of chunk signatures of one body; every signature covers the one before. */
export class ChunkSigner {
  #previous: string;
  readonly #context: ChunkSigningContext;

  constructor(context: ChunkSigningContext) {
    this.#context = context;
    this.#previous = context.seed;
  }

  /** Signature of the next chunk, whose data is the concatenation of `data`. */
  chunk(data: readonly Buffer[]): string {
    const digest = createHash('sha256');
    for (const piece of data) digest.update(piece);
    return this.chunkHash(digest.digest('hex'));
  }

  /** The same from the data's SHA-256 in hexadecimal. */
  chunkHash(sha256: string): string {
    return this.#next('AWS4-HMAC-SHA256-PAYLOAD', `${emptySha256}\n${sha256}`);
  }

  /** Signature of the trailers, in the order in which they are sent. */
  trailers(entries: Iterable<readonly [name: string, value: string]>): string {
    let block = '';
    for (const [name, value] of entries) block += `${name}:${value}\n`;
    return this.#next('AWS4-HMAC-SHA256-TRAILER', hash('sha256', block, 'hex'));
  }

  #next(kind: string, hashes: string): string {
    const { signingKey, timestamp, scope } = this.#context;
    this.#previous = hmacHex(signingKey, `${kind}\n${timestamp}\n${scope}\n${this.#previous}\n${hashes}`);
    return this.#previous;
  }
}

/** Checks each chunk of a signed body after its last byte. @throws S3Error SignatureDoesNotMatch */
export class ChunkSignatureVerifier implements ChunkObserver {
  readonly #signer: ChunkSigner;
  #claimed: string | undefined;
  #digest: Hash = createHash('sha256');

  constructor(context: ChunkSigningContext) {
    this.#signer = new ChunkSigner(context);
  }

  chunkStart(_size: number, signature: string | undefined): void {
    this.#claimed = signature;
    this.#digest = createHash('sha256');
  }

  chunkData(data: Buffer): void {
    this.#digest.update(data);
  }

  chunkEnd(): void {
    this.#check(this.#signer.chunkHash(this.#digest.digest('hex')), this.#claimed);
  }

  trailers(trailers: ReadonlyMap<string, string>, signature: string | undefined): void {
    this.#check(this.#signer.trailers(trailers), signature);
  }

  #check(expected: string, claimed: string | undefined): void {
    if (claimed === undefined || !sameHex(expected, claimed)) throw s3Error('SignatureDoesNotMatch');
  }
}
