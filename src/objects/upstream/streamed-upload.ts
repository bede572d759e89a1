import { crc32 } from 'node:zlib';
import type { ObjectsConfig } from '../config.ts';
import { ChunkEncoder, ChunkSigner, encodedLength, type Framing } from '../s3/chunk-encoder.ts';
import { s3Error } from '../s3/error.ts';
import {
  type ChunkSigningContext,
  streamingSigned,
  streamingSignedTrailer,
  streamingUnsignedTrailer,
  unsignedPayload,
} from '../s3/sigv4-sign.ts';
import { AnsweredEarly, type UpstreamResponse, type UpstreamUpload } from './upstream.ts';
import type { UpstreamExchange } from './upstream-exchange.ts';

export interface UploadPlan {
  /** Number of bytes that will be written. */
  readonly length: number;
  readonly framing: Framing | undefined;
  /** State from which chunk signatures continue. */
  readonly chunks: ChunkSigningContext;
  /** The store's response, with connection failures as S3Errors. */
  readonly answer: () => Promise<UpstreamResponse>;
  /** Converts a connection failure to an S3Error. */
  readonly failed: (error: unknown) => unknown;
}

/** Runs `send`; after any failure the store keeps nothing. Returns a refusal that came early. */
export async function sendAll(
  upload: UpstreamUpload,
  send: () => Promise<UpstreamResponse>,
): Promise<UpstreamResponse> {
  try {
    return await send();
  } catch (error) {
    if (error instanceof AnsweredEarly) return upload.answer();
    upload.abort();
    throw error;
  }
}

/** A buffer for one frame of ciphertext, not zeroed. */
const takeFrame = (): Buffer => free.pop() ?? Buffer.allocUnsafeSlow(headroom + frameBytes);
const free: Buffer[] = [];

/** Room before the data for a chunk header, which carries a signature. */
const headroom = 128;

/** Large frames cost less per byte; each upload holds about two of them. */
export const frameBytes = 256 * 1024;

/**
 * Sends a body frame by frame. A full frame is sent only when another byte arrives, so the last frame is held until
 * `finish`.
 */
export class StreamedUpload implements UpstreamUpload {
  readonly #exchange: UpstreamExchange;
  readonly #plan: UploadPlan;
  readonly #encoder: ChunkEncoder | undefined;
  readonly #frame = takeFrame();
  #held = 0;
  #taken = 0;
  #checksum = 0;
  /** True once nobody reads from the frame any more; the store may answer earlier. */
  #frameIsFree = false;

  constructor(exchange: UpstreamExchange, plan: UploadPlan) {
    this.#exchange = exchange;
    this.#plan = plan;
    const { framing, chunks } = plan;
    if (framing) this.#encoder = new ChunkEncoder(framing.signed ? new ChunkSigner(chunks) : undefined);
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#taken += chunk.length;
    if (this.#taken > this.#plan.length) throw this.#broken();
    for (let offset = 0; offset < chunk.length; ) {
      if (this.#held === frameBytes) await this.#flush();
      const piece = chunk.subarray(offset, offset + frameBytes - this.#held);
      this.#frame.set(piece, headroom + this.#held);
      this.#held += piece.length;
      offset += piece.length;
    }
  }

  async finish(lastChunk: Uint8Array): Promise<UpstreamResponse> {
    try {
      await this.write(lastChunk);
      if (this.#taken !== this.#plan.length) throw this.#broken();
      this.#sendRest();
    } catch (error) {
      if (!(error instanceof AnsweredEarly)) throw error;
      return this.answer();
    }
    const response = await this.#plan.answer();
    if (this.#frameIsFree) giveFrame(this.#frame);
    return response;
  }

  async answer(): Promise<UpstreamResponse> {
    const response = await this.#plan.answer();
    if (response.status >= 300) return response;
    this.abort();
    throw s3Error('InternalError', 'The object store accepted a body before it had all of it.');
  }

  abort(): void {
    this.#exchange.reset(new Error('the upload was given up'));
  }

  #broken(): Error {
    this.abort();
    return new RangeError(
      `a body of ${this.#plan.length} bytes was announced to the store and ${this.#taken} came`,
    );
  }

  async #flush(): Promise<void> {
    await this.#exchange.write(this.#framed()).catch((error) => {
      throw this.#failure(error);
    });
  }

  #sendRest(): void {
    const last = this.#framed();
    try {
      this.#exchange.end([last, this.#ending()], () => {
        this.#frameIsFree = true;
      });
    } catch (error) {
      throw this.#failure(error);
    }
  }

  #failure(error: unknown): unknown {
    return error instanceof AnsweredEarly ? error : this.#plan.failed(error);
  }

  /** The held bytes after their chunk header. The frame counts as empty, but must not change before it was written. */
  #framed(): Buffer {
    const data = this.#frame.subarray(headroom, headroom + this.#held);
    this.#held = 0;
    if (this.#plan.framing?.trailers.length) this.#checksum = crc32(data, this.#checksum);
    if (data.length === 0 || !this.#encoder) return data;
    const header = this.#encoder.header([data]);
    const start = headroom - header.length;
    this.#frame.set(header, start);
    return this.#frame.subarray(start, headroom + data.length);
  }

  #ending(): Buffer {
    if (!this.#encoder) return Buffer.alloc(0);
    if (this.#plan.framing?.trailers.length === 0) return this.#encoder.end();
    const checksum = Buffer.alloc(4);
    checksum.writeUInt32BE(this.#checksum);
    return this.#encoder.end([[checksumTrailer, checksum.toString('base64')]]);
  }
}

const maxFree = 16;

/** Call it once nobody reads from the frame, not even the operating system. */
function giveFrame(frame: Buffer): void {
  if (free.length < maxFree) free.push(frame);
}

export const checksumTrailer = 'x-amz-checksum-crc32';
/** Length of a CRC-32 in base64. */
const checksumLength = 8;

/** How a streamed body is sent to the store. */
export interface BodyForm {
  /** `x-amz-content-sha256` */
  readonly payload: string;
  /** Undefined: the plain bytes. */
  readonly framing: Framing | undefined;
}

type FormConfig = Pick<ObjectsConfig, 'upstream' | 'upstreamSigning' | 'upstreamChecksum'>;

/** The trailing checksum covers the ciphertext, and makes a store refuse a body that ends before its trailer. */
export function bodyForm(config: FormConfig): BodyForm {
  const signed = isSigned(config);
  if (config.upstreamChecksum === 'crc32') {
    const trailers = [{ name: checksumTrailer, valueLength: checksumLength }];
    const payload = signed ? streamingSignedTrailer : streamingUnsignedTrailer;
    return { payload, framing: { chunkSize: frameBytes, signed, trailers } };
  }
  if (!signed) return { payload: unsignedPayload, framing: undefined };
  return { payload: streamingSigned, framing: { chunkSize: frameBytes, signed, trailers: [] } };
}

/** Over plain HTTP the body must be signed. */
function isSigned({ upstream, upstreamSigning }: FormConfig): boolean {
  if (upstreamSigning !== 'auto') return upstreamSigning === 'signed';
  return upstream.protocol !== 'https:';
}

/** Headers that announce `length` bytes in this form. */
export function framingHeaders({ framing }: BodyForm, length: number): Record<string, string> {
  if (!framing) return { 'content-length': String(length) };
  const headers: Record<string, string> = {
    'content-length': String(encodedLength(length, framing)),
    'x-amz-decoded-content-length': String(length),
  };
  if (framing.trailers.length > 0) headers['x-amz-trailer'] = checksumTrailer;
  return headers;
}
