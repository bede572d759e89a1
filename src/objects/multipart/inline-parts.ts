import type { ObjectServices } from '../context.ts';
import { formatField } from '../format/formats.ts';
import { plaintextListSize, type StoredPartList, storedListSize } from '../format/manifest.ts';
import { envelopeHeaders, md5Headers, recoveryHeaders } from '../format/metadata.ts';
import { recoverySize } from '../format/recovery.ts';
import { s3Error } from '../s3/error.ts';
import { maxUserMetadata, storedHeaders, userMetadataSize } from '../s3/headers.ts';
import { copySourceHeader } from '../s3/request.ts';
import { xmlResult } from '../upstream/upstream.ts';
import type { Completed } from './completed-object.ts';
import { envelopeChecksum, type UploadRecord } from './upload-record.ts';

const answerLimit = 64 * 1024;
const maxCopyBytes = 5 * 1024 ** 3;

/**
 * Moves the part list into the object's own headers, by a copy onto itself, if it fits and the bucket keeps no
 * versions. After a failure the object stays readable through its manifest.
 * @param completed the store's ETag of the object, and its version if the bucket keeps versions by now, whatever it kept
 *   a moment ago: the caller learns of this version, and a copy would be another one
 * @returns the store's ETag afterwards
 */
export async function inlineParts(
  services: ObjectServices,
  record: UploadRecord,
  list: StoredPartList,
  { etag, versionId }: Pick<Completed, 'etag' | 'versionId'>,
): Promise<string> {
  if (versionId !== undefined || !fits(services, record, list)) return etag;
  try {
    if (!(await mayCopy(services, record))) return etag;
    const copied = await copyOntoItself(services, record, list, etag);
    services.manifests.removeLater(record, record.manifest);
    return copied;
  } catch (error) {
    services.log.warn('proxy.inline.failed', { error: error instanceof Error ? error.message : 'unknown' });
    return etag;
  }
}

function fits({ config, keys }: ObjectServices, record: UploadRecord, list: StoredPartList): boolean {
  const plaintext = plaintextListSize(list);
  const stored = storedListSize(list);
  const own = userMetadataSize(inlineHeaders(record, list)) + recoverySize(keys.recipients ?? 0);
  const size = record.userMetadata + own;
  return (
    plaintext <= config.inlineLimit &&
    stored <= maxCopyBytes &&
    size <= maxUserMetadata &&
    config.inlineLimit > 0
  );
}

async function mayCopy({ buckets }: ObjectServices, { bucket }: UploadRecord): Promise<boolean> {
  return (await buckets.keepsVersions(bucket)) === 'no' && !(await buckets.locked(bucket));
}

const inlineHeaders = (
  { format, keyName, keyVersion, binding, checksum }: UploadRecord,
  list: StoredPartList,
) =>
  envelopeHeaders({
    ...formatField(format),
    keys: { form: 'inline', list },
    keyName,
    keyVersion,
    binding,
    ...envelopeChecksum(checksum),
  });

async function copyOntoItself(
  { upstream, reader }: ObjectServices,
  record: UploadRecord,
  list: StoredPartList,
  etag: string,
): Promise<string> {
  const { bucket, key } = record;
  const { headers, envelope } = await reader.stat({ bucket, key }, { headers: { 'if-match': etag } });
  const response = await upstream.send({
    method: 'PUT',
    bucket,
    key,
    headers: {
      ...storedHeaders(headers),
      ...record.repeat,
      ...inlineHeaders(record, list),
      ...md5Headers({ ...envelope }),
      ...recoveryHeaders(headers),
      'x-amz-copy-source': copySourceHeader({ bucket, key }),
      'x-amz-copy-source-if-match': etag,
      'x-amz-metadata-directive': 'REPLACE',
      'x-amz-tagging-directive': 'COPY',
    },
  });
  const { top } = await xmlResult(response, { root: 'CopyObjectResult', fields: ['ETag'] }, answerLimit);
  const copied = top.get('ETag');
  if (copied === undefined) throw s3Error('InternalError', 'The object store named no ETag of the copy.');
  return copied;
}
