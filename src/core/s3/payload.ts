import type { IncomingHttpHeaders } from 'node:http';
import { s3Error } from './error-catalog.ts';

/** What `x-amz-content-sha256` announces about the body. */
export type PayloadMode =
  | { readonly kind: 'unsigned' }
  | { readonly kind: 'literal'; readonly sha256: string }
  | { readonly kind: 'chunked'; readonly signed: boolean; readonly trailer: boolean };

export const streamingSigned = 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD';
export const streamingSignedTrailer = 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER';
export const streamingUnsignedTrailer = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER';
export const unsignedPayload = 'UNSIGNED-PAYLOAD';

const modes: Readonly<Record<string, PayloadMode>> = {
  [unsignedPayload]: { kind: 'unsigned' },
  [streamingSigned]: { kind: 'chunked', signed: true, trailer: false },
  [streamingSignedTrailer]: { kind: 'chunked', signed: true, trailer: true },
  [streamingUnsignedTrailer]: { kind: 'chunked', signed: false, trailer: true },
};

/** @throws S3Error InvalidArgument, or NotImplemented for payload signatures with SigV4A */
export function payloadMode(contentSha256: string | undefined): PayloadMode {
  if (contentSha256 === undefined) return { kind: 'unsigned' };
  const mode = Object.hasOwn(modes, contentSha256) ? modes[contentSha256] : undefined;
  if (mode) return mode;
  if (/^[0-9a-fA-F]{64}$/.test(contentSha256))
    return { kind: 'literal', sha256: contentSha256.toLowerCase() };
  if (contentSha256.startsWith('STREAMING-'))
    throw s3Error('NotImplemented', 'This payload signature is not known.');
  throw s3Error(
    'InvalidArgument',
    'x-amz-content-sha256 must be UNSIGNED-PAYLOAD, a known STREAMING- value or a SHA-256.',
  );
}

/**
 * Plaintext bytes that the request announces: `x-amz-decoded-content-length` of a chunked body, else
 * `Content-Length`; undefined when neither says. @throws S3Error InvalidArgument
 */
export function announcedLength(headers: IncomingHttpHeaders, mode: PayloadMode): number | undefined {
  const value = mode.kind === 'chunked' ? headers['x-amz-decoded-content-length'] : headers['content-length'];
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || !/^\d{1,15}$/.test(value)) {
    throw s3Error('InvalidArgument', 'The length of the body is not a number.');
  }
  return Number(value);
}
