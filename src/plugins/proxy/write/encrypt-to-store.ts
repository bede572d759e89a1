import { partChecksumKeyOf } from '../../../core/envelope/body-keys.ts';
import { sealChecksums } from '../../../core/envelope/sealed-checksums.ts';
import { s3Error } from '../../../core/s3/error.ts';
import { responseHeadersDownstream, unquote } from '../../../core/s3/headers.ts';
import { createKey, type FreshKey } from '../data-keys.ts';
import { refusal, type UpstreamResponse } from '../upstream/upstream.ts';
import {
  type EncryptionPlan,
  formatOf,
  mostPlaintext,
  type Sealed,
  strategyFor,
  type WriteContext,
} from './seal-and-send.ts';

/** An encrypted body that the store holds. */
export interface StoredBody extends Omit<Sealed, 'response'>, Acceptance {
  /** The wrapped DEK. */
  readonly dek: string;
  /** As `sealChecksums` writes them, where there are any. */
  readonly sealed?: string;
}

/**
 * Encrypts a plaintext under a fresh DEK, or in format 2 a part under that of its upload, and stores it. The DEK is
 * wrapped before the store gets the request, and wiped when this settles.
 * @throws S3Error EntityTooLarge before anything is sent; the store's refusal; what `source` throws,
 *   after which the store has kept nothing.
 */
export async function encryptToStore(context: WriteContext, plan: EncryptionPlan): Promise<StoredBody> {
  if (plan.length !== undefined && plan.length > mostPlaintext(formatOf(plan)))
    throw s3Error('EntityTooLarge');
  const send = strategyFor(context, plan);
  return withKey(context, plan, async (key) => {
    const { response, proof, size } = await send(key);
    const acceptance = await accepted(response);
    context.metrics.bytes('encrypted', size);
    const sealed = partChecksums(plan, key.key, { proof, size });
    return { ...acceptance, proof, size, dek: key.ciphertext, ...(sealed !== undefined && { sealed }) };
  });
}

/** An object has its checksum in its metadata, a part has them in its record. */
function partChecksums(
  { purpose, checksums: calculated }: EncryptionPlan,
  dek: Buffer,
  { proof, size }: Pick<Sealed, 'proof' | 'size'>,
): string | undefined {
  const checksums = purpose.kind === 'object' ? undefined : calculated?.();
  if (purpose.kind === 'object' || !checksums?.size) return undefined;
  if ('nonce' in proof) return sealChecksums(dek, { nonce: proof.nonce, size }, checksums);
  const key = partChecksumKeyOf(dek, purpose.upload);
  try {
    return sealChecksums(key, { nonce: proof.salt, size }, checksums);
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

/** The store's answer to a write as the caller gets it: ETag outward, sizes of plaintext. */
export function writeAnswer({ headers, size }: Pick<StoredBody, 'headers' | 'size'>): Record<string, string> {
  const answer = responseHeadersDownstream(headers);
  if (answer[objectSize] !== undefined) answer[objectSize] = String(size);
  return answer;
}
