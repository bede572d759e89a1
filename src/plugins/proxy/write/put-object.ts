import { envelopeHeaders } from '../../../core/envelope/metadata.ts';
import { s3Error } from '../../../core/s3/error-catalog.ts';
import { requestHeadersUpstream } from '../../../core/s3/headers.ts';
import { maxUserMetadata, userMetadataSize } from '../../../core/s3/metadata.ts';
import type { WrappedKey } from '../../../runtime/vault/contract.ts';
import type { Handler } from '../context.ts';
import { manifestToReplace, removeManifest } from '../delete/manifest-of.ts';
import type { WrapScheme } from '../keys/data-keys.ts';
import { encryptToStore } from './encrypt-to-store.ts';
import { verifyStored } from './verify-stored.ts';
import { writeAnswer } from './write-answer.ts';

/** PutObject: the body is encrypted under a DEK of its own, which is stored wrapped in the object's metadata. */
export const putObject: Handler = async (context, { request, payload, answer, signal }) => {
  const name = { bucket: request.bucket, key: request.key };
  const replaced = await manifestToReplace(context, name, signal);
  const stored = await encryptToStore(context, {
    name,
    purpose: { kind: 'object' },
    source: payload.chunks(),
    length: payload.length,
    signal,
    request: (key) => ({
      method: 'PUT',
      ...name,
      headers: objectHeaders(requestHeadersUpstream(request.headers), key, context.keys.scheme),
      signal,
    }),
  });
  if (context.config.upstreamChecksum === 'none') await verifyStored(context, name, stored, request.headers);
  await removeManifest(context, name, replaced);
  answer.head(stored.status, writeAnswer(stored));
  await answer.end();
};

/**
 * `headers` with the envelope of a single body.
 * @throws S3Error MetadataTooLarge when both together exceed what the store takes
 */
export function objectHeaders(
  headers: Readonly<Record<string, string>>,
  { ciphertext, keyVersion }: WrappedKey,
  { keyName, binding }: WrapScheme,
): Record<string, string> {
  const envelope = envelopeHeaders({
    keys: { form: 'single', dek: ciphertext },
    keyName,
    keyVersion,
    binding,
  });
  const all = { ...headers, ...envelope };
  if (userMetadataSize(all) > maxUserMetadata) throw s3Error('MetadataTooLarge');
  return all;
}
