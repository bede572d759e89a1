import { s3Error } from '../../../core/s3/error-catalog.ts';
import { unquote } from '../../../core/s3/etag.ts';
import { refusal } from '../upstream/refusal.ts';
import type { UpstreamResponse } from '../upstream/upstream.ts';

export interface Acceptance {
  readonly status: number;
  readonly headers: UpstreamResponse['headers'];
  /** The store's, unquoted. */
  readonly etag: string;
}

/**
 * What the store found wrong with the body as it arrived there. The caller's
 * body was right, so to the caller this is a failure on the way, worth a retry.
 */
const damagedOnTheWay = new Set([
  'BadDigest',
  'IncompleteBody',
  'InvalidDigest',
  'MalformedTrailerError',
  'RequestTimeout',
  'XAmzContentChecksumMismatch',
  'XAmzContentSHA256Mismatch',
]);

/** @throws S3Error as the store refuses the write */
export async function accepted(response: UpstreamResponse): Promise<Acceptance> {
  const { status, headers, body } = response;
  if (status !== 200) {
    const refused = await refusal(response);
    if (!damagedOnTheWay.has(refused.code)) throw refused;
    throw s3Error('ServiceUnavailable', 'The body did not reach the object store whole. Please retry.', {
      cause: refused,
    });
  }
  body.resume();
  if (headers.etag === undefined) throw s3Error('InternalError', 'The object store named no ETag.');
  return { status, headers, etag: unquote(headers.etag) };
}
