import type { BodyFormat } from '../format/body-format.ts';
import { sealChecksums } from '../format/sealed-checksums.ts';
import { createKey, type FreshKey } from '../keys/data-keys.ts';
import { s3Error } from '../s3/error.ts';
import { responseHeadersDownstream, unquote } from '../s3/headers.ts';
import { refusal, type UpstreamResponse } from '../upstream/upstream.ts';
import {
  type EncryptionPlan,
  formatOf,
  type Sealed,
  strategyFor,
  type WriteContext,
} from './seal-and-send.ts';

/** An encrypted body stored in the object store. */
export interface StoredBody extends Omit<Sealed, 'response'>, Acceptance {
  readonly format: BodyFormat;
  /** The wrapped DEK. */
  readonly dek: string;
  /** Checksums as `sealChecksums` writes them, if there are any. */
  readonly sealed?: string;
}

/**
 * Encrypts a plaintext and stores it: under a fresh DEK or, for a part in format 2, under the DEK of its upload. The
 * DEK is wrapped before the store gets the request, and wiped when this settles.
 * @throws S3Error EntityTooLarge before anything is sent; the store's refusal; errors of `source`, after which the
 *   store keeps nothing
 */
export async function encryptToStore(context: WriteContext, plan: EncryptionPlan): Promise<StoredBody> {
  if (plan.length !== undefined && plan.length > formatOf(plan).maxPlaintext) throw s3Error('EntityTooLarge');
  const send = strategyFor(context, plan);
  return withKey(context, plan, async (key) => {
    const { response, proof, size } = await send(key);
    const acceptance = await accepted(response);
    context.metrics.bytes('encrypted', size);
    const sealed = partChecksums(plan, key.key, { proof, size });
    const format = formatOf(plan);
    return {
      ...acceptance,
      format,
      proof,
      size,
      dek: key.ciphertext,
      ...(sealed !== undefined && { sealed }),
    };
  });
}

/** For parts only, whose checksums go into their record; an object's checksum is in its metadata. */
function partChecksums(
  plan: EncryptionPlan,
  dek: Buffer,
  { proof, size }: Pick<Sealed, 'proof' | 'size'>,
): string | undefined {
  const { purpose } = plan;
  const checksums = purpose.kind === 'object' ? undefined : plan.checksums?.();
  if (purpose.kind === 'object' || !checksums?.size) return undefined;
  const { key, nonce } = formatOf(plan).checksumKey(dek, purpose.upload, proof);
  try {
    return sealChecksums(key, { nonce, size }, checksums);
  } finally {
    key.fill(0);
  }
}

async function withKey<T>(
  context: WriteContext,
  plan: EncryptionPlan,
  use: (key: FreshKey) => Promise<T>,
): Promise<T> {
  const fresh = await freshKey(context, plan);
  try {
    return await use(fresh);
  } finally {
    fresh.key.fill(0);
  }
}

const freshKey = (
  { keys, partKeys }: WriteContext,
  { name, purpose, ofUpload, signal }: EncryptionPlan,
): Promise<FreshKey> => {
  if (ofUpload !== undefined) return ofUpload.key();
  return purpose.kind === 'part'
    ? partKeys.take(name, purpose, signal)
    : createKey(keys, name, purpose, signal);
};

interface Acceptance {
  readonly status: number;
  readonly headers: UpstreamResponse['headers'];
  /** The store's ETag, unquoted. */
  readonly etag: string;
}

/**
 * Errors about a body that was damaged on its way to the store. The caller's body was right, so the caller gets a 503,
 * which it may retry.
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

/** @throws S3Error of the store if it refuses the write */
async function accepted(response: UpstreamResponse): Promise<Acceptance> {
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

const objectSize = 'x-amz-object-size';

/** Response headers of a write for the caller, with ETag and size of the plaintext object. */
export function writeAnswer({ headers, size }: Pick<StoredBody, 'headers' | 'size'>): Record<string, string> {
  const answer = responseHeadersDownstream(headers);
  if (answer[objectSize] !== undefined) answer[objectSize] = String(size);
  return answer;
}
