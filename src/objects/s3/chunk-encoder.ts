import { createHash, type Hash, hash } from 'node:crypto';
import type { ChunkObserver } from './chunk-decoder.ts';
import { s3Error } from './error.ts';
import { type ChunkSigningContext, hmacHex, sameHex } from './sigv4-sign.ts';

/** How a body is framed as `aws-chunked` for the store. */
export interface Framing {
  /** Data bytes of every chunk except the last. */
  readonly chunkSize: number;
  readonly signed: boolean;
  /** Trailers to send, with the lengths of their values. */
  readonly trailers: readonly { readonly name: string; readonly valueLength: number }[];
}

const signatureLength = 64;
const signatureField = ';chunk-signature=';
const trailerSignature = 'x-amz-trailer-signature';
const crlf = 2;

/** Encoded length (`Content-Length`) of `length` data bytes in chunks of `chunkSize`. */
export function encodedLength(length: number, framing: Framing): number {
  const rest = length % framing.chunkSize;
  const full = (length - rest) / framing.chunkSize;
  const chunks = full * chunkLength(framing.chunkSize, framing) + (rest > 0 ? chunkLength(rest, framing) : 0);
  return chunks + headerLength(0, framing) + trailersLength(framing) + crlf;
}

function chunkLength(size: number, framing: Framing): number {
  return headerLength(size, framing) + size + crlf;
}

function headerLength(size: number, { signed }: Framing): number {
  return size.toString(16).length + (signed ? signatureField.length + signatureLength : 0) + crlf;
}

function trailersLength({ signed, trailers }: Framing): number {
  if (trailers.length === 0) return 0;
  const lines = trailers.reduce(
    (sum, { name, valueLength }) => sum + name.length + 1 + valueLength + crlf,
    0,
  );
  return lines + (signed ? trailerSignature.length + 1 + signatureLength + crlf : 0);
}

/** Writes the frames around the data; with a signer, each chunk is signed. */
export class ChunkEncoder {
  readonly #signer: ChunkSigner | undefined;
  #open = false;

  constructor(signer?: ChunkSigner) {
    this.#signer = signer;
  }

  /** Ends the previous chunk and starts the next one, whose data is the concatenation of `data` (not empty). */
  header(data: readonly Buffer[]): Buffer {
    const size = data.reduce((sum, piece) => sum + piece.length, 0);
    return Buffer.from(this.#line(size, data), 'latin1');
  }

  /** Ends the last chunk and the body. */
  end(trailers: readonly (readonly [name: string, value: string])[] = []): Buffer {
    const last = this.#line(0, []);
    const lines = trailers.map(([name, value]) => `${name}:${value}\r\n`);
    if (this.#signer && trailers.length > 0) {
      lines.push(`${trailerSignature}:${this.#signer.trailers(trailers)}\r\n`);
    }
    return Buffer.from(`${last}${lines.join('')}\r\n`, 'latin1');
  }

  #line(size: number, data: readonly Buffer[]): string {
    const before = this.#open ? '\r\n' : '';
    this.#open = true;
    const signature = this.#signer ? `${signatureField}${this.#signer.chunk(data)}` : '';
    return `${before}${size.toString(16)}${signature}\r\n`;
  }
}

const emptySha256 = hash('sha256', '', 'hex');

/** The chain of chunk signatures of one body; each signature covers the previous one. */
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

  /** Signature of the next chunk from its data's SHA-256 in hexadecimal. */
  chunkHash(sha256: string): string {
    return this.#next('AWS4-HMAC-SHA256-PAYLOAD', `${emptySha256}\n${sha256}`);
  }

  /** Signature of the trailers, in sending order. */
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

/**
 * Verifies each chunk of a signed body after its last byte. @throws S3Error SignatureDoesNotMatch,
 * MalformedTrailerError
 */
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
    if (trailers.size === 0) throw s3Error('MalformedTrailerError');
    this.#check(this.#signer.trailers(trailers), signature);
  }

  #check(expected: string, claimed: string | undefined): void {
    if (claimed === undefined || !sameHex(expected, claimed)) throw s3Error('SignatureDoesNotMatch');
  }
}
