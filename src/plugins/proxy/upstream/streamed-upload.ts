import { crc32 } from 'node:zlib';
import { ChunkEncoder, type Framing } from '../../../core/s3/chunk-encoder.ts';
import { ChunkSigner, type ChunkSigningContext } from '../../../core/s3/chunk-signature.ts';
import { s3Error } from '../../../core/s3/error-catalog.ts';
import { AnsweredEarly } from './failures.ts';
import { checksumTrailer, frameBytes } from './framing.ts';
import type { UpstreamResponse, UpstreamUpload } from './upstream.ts';
import type { Wire } from './wire.ts';

export interface UploadPlan {
  /** Bytes that will be written. */
  readonly length: number;
  readonly framing: Framing | undefined;
  /** Where the chunk signatures continue from. */
  readonly chunks: ChunkSigningContext;
  /** The store's answer to the wire, with failures in S3's words. */
  readonly answer: () => Promise<UpstreamResponse>;
  /** A failure of the wire in S3's words. */
  readonly failed: (error: unknown) => unknown;
}

/** More pieces than this in one frame are joined, so that a body of tiny chunks does not cost a system call's vector each. */
const maxPieces = 64;

/**
 * Sends a body frame by frame. A full frame leaves when a byte after it has
 * come, so the last one stays here until `finish`.
 */
export class StreamedUpload implements UpstreamUpload {
  readonly #wire: Wire;
  readonly #plan: UploadPlan;
  readonly #encoder: ChunkEncoder | undefined;
  #pieces: Buffer[] = [];
  #held = 0;
  #taken = 0;
  #checksum = 0;

  constructor(wire: Wire, plan: UploadPlan) {
    this.#wire = wire;
    this.#plan = plan;
    const { framing, chunks } = plan;
    if (framing) this.#encoder = new ChunkEncoder(framing.signed ? new ChunkSigner(chunks) : undefined);
  }

  async write(chunk: Uint8Array): Promise<void> {
    let rest = this.#take(chunk);
    while (rest.length > 0) {
      if (this.#held === frameBytes) await this.#flush();
      const piece = rest.subarray(0, frameBytes - this.#held);
      this.#hold(piece);
      rest = rest.subarray(piece.length);
    }
  }

  async finish(lastChunk: Uint8Array): Promise<UpstreamResponse> {
    try {
      await this.write(lastChunk);
    } catch (error) {
      if (!(error instanceof AnsweredEarly)) throw error;
      return this.answer();
    }
    if (this.#taken !== this.#plan.length) throw this.#broken();
    this.#wire.end([...this.#frame(), ...this.#ending()]);
    return this.#plan.answer();
  }

  async answer(): Promise<UpstreamResponse> {
    const response = await this.#plan.answer();
    if (response.status >= 300) return response;
    this.abort();
    throw s3Error('InternalError', 'The object store accepted a body before it had all of it.');
  }

  abort(): void {
    this.#wire.reset(new Error('the upload was given up'));
  }

  #take(chunk: Uint8Array): Buffer {
    this.#taken += chunk.length;
    if (this.#taken > this.#plan.length) throw this.#broken();
    if (this.#plan.framing?.trailers.length) this.#checksum = crc32(chunk, this.#checksum);
    return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
  }

  #broken(): Error {
    this.abort();
    return new RangeError(
      `a body of ${this.#plan.length} bytes was announced to the store and ${this.#taken} came`,
    );
  }

  #hold(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#held += piece.length;
    if (this.#pieces.length > maxPieces) this.#pieces = [Buffer.concat(this.#pieces, this.#held)];
  }

  async #flush(): Promise<void> {
    try {
      await this.#wire.write(this.#frame());
    } catch (error) {
      throw error instanceof AnsweredEarly ? error : this.#plan.failed(error);
    }
  }

  #frame(): Buffer[] {
    const pieces = this.#pieces;
    this.#pieces = [];
    this.#held = 0;
    if (pieces.length === 0 || !this.#encoder) return pieces;
    return [this.#encoder.header(pieces), ...pieces];
  }

  #ending(): Buffer[] {
    if (!this.#encoder) return [];
    if (this.#plan.framing?.trailers.length === 0) return [this.#encoder.end()];
    const checksum = Buffer.alloc(4);
    checksum.writeUInt32BE(this.#checksum);
    return [this.#encoder.end([[checksumTrailer, checksum.toString('base64')]])];
  }
}
