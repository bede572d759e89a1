import { encodedLength, type Framing } from '../../../core/s3/chunk-encoder.ts';
import {
  streamingSigned,
  streamingSignedTrailer,
  streamingUnsignedTrailer,
  unsignedPayload,
} from '../../../core/s3/payload.ts';
import type { ProxyConfig } from '../config.ts';

/** Large frames cost less; each upload holds about two of them. */
export const frameBytes = 256 * 1024;

export const checksumTrailer = 'x-amz-checksum-crc32';
/** A CRC-32 in base64. */
const checksumLength = 8;

/** How a streamed body goes to the store. */
export interface BodyForm {
  /** `x-amz-content-sha256` */
  readonly payload: string;
  /** Undefined: the bare bytes. */
  readonly framing: Framing | undefined;
}

type FormConfig = Pick<ProxyConfig, 'upstream' | 'upstreamSigning' | 'upstreamChecksum'>;

/** The checksum is over the ciphertext: a store refuses a body that ends before its trailer has come. */
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

/** Plain http is not trusted with the body. */
function isSigned({ upstream, upstreamSigning }: FormConfig): boolean {
  if (upstreamSigning !== 'auto') return upstreamSigning === 'signed';
  return upstream.protocol !== 'https:';
}

/** The headers that announce `length` bytes in that form. */
export function framingHeaders({ framing }: BodyForm, length: number): Record<string, string> {
  if (!framing) return { 'content-length': String(length) };
  const headers: Record<string, string> = {
    'content-length': String(encodedLength(length, framing)),
    'x-amz-decoded-content-length': String(length),
  };
  if (framing.trailers.length > 0) headers['x-amz-trailer'] = checksumTrailer;
  return headers;
}
