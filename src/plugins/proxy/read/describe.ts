import { EnvelopeError } from '../../../core/envelope/error.ts';
import { readEnvelope } from '../../../core/envelope/metadata.ts';
import type { ProxyConfig } from '../config.ts';
import type { UpstreamResponse } from '../upstream/upstream.ts';
import type { ObjectAddress, StoredObject } from './object-reader.ts';

/** @throws EnvelopeError `partial-metadata`, `malformed-metadata`, `unencrypted`, `wrong-size`. */
export function describe(
  { unencryptedReads }: Pick<ProxyConfig, 'unencryptedReads'>,
  { name, versionId, access }: ObjectAddress,
  headers: UpstreamResponse['headers'],
): StoredObject {
  const envelope = readEnvelope(headers);
  if (envelope === undefined && unencryptedReads === 'deny')
    throw new EnvelopeError('unencrypted', 'the object is not encrypted and --unencrypted-reads is deny');
  const storedSize = Number(headers['content-length'] ?? Number.NaN);
  if (!Number.isSafeInteger(storedSize))
    throw new EnvelopeError('wrong-size', 'the store does not say how long the object is');
  return { name, versionId, access, headers, etag: headers.etag ?? '', envelope, storedSize };
}
