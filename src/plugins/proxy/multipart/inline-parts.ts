import { storedSize } from '../../../core/envelope/format.ts';
import type { PartList } from '../../../core/envelope/manifest.ts';
import { envelopeHeaders } from '../../../core/envelope/metadata.ts';
import { copySourceHeader } from '../../../core/s3/copy-source.ts';
import { s3Error } from '../../../core/s3/error-catalog.ts';
import { maxUserMetadata, userMetadataSize } from '../../../core/s3/metadata.ts';
import { storedHeaders } from '../../../core/s3/stored-headers.ts';
import { childText } from '../../../core/s3/xml.ts';
import type { ProxyContext } from '../context.ts';
import { xmlResult } from '../upstream/xml-result.ts';
import type { Completed } from './completed.ts';
import type { UploadRecord } from './upload-record.ts';

const answerLimit = 64 * 1024;
const maxCopyBytes = 5 * 1024 ** 3;

/**
 * Puts the part list into the object's own header, by a copy onto itself, where it fits and where that
 * makes no further version. What goes wrong leaves the object as it is: readable by its manifest.
 */
export async function inlineParts(
  context: ProxyContext,
  record: UploadRecord,
  list: PartList,
  completed: Completed,
): Promise<Completed> {
  if (!fits(context, record, list)) return completed;
  try {
    if (!(await mayCopy(context, record))) return completed;
    const etag = await copyOntoItself(context, record, list, completed.etag);
    context.manifests.removeLater(record, record.manifest);
    return { ...completed, etag };
  } catch (error) {
    context.log.warn('proxy.inline.failed', { error: error instanceof Error ? error.message : 'unknown' });
    return completed;
  }
}

function fits({ config }: ProxyContext, record: UploadRecord, list: PartList): boolean {
  const plaintext = list.parts.reduce((sum, part) => sum + part.size, 0);
  const stored = list.parts.reduce((sum, part) => sum + storedSize(part.size), 0);
  const size = record.userMetadata + userMetadataSize(inlineHeaders(record, list));
  return (
    plaintext <= config.inlineLimit &&
    stored <= maxCopyBytes &&
    size <= maxUserMetadata &&
    config.inlineLimit > 0
  );
}

async function mayCopy({ buckets }: ProxyContext, { bucket }: UploadRecord): Promise<boolean> {
  return (await buckets.keepsVersions(bucket)) === 'no' && !(await buckets.locked(bucket));
}

const inlineHeaders = ({ keyName, keyVersion, binding }: UploadRecord, list: PartList) =>
  envelopeHeaders({ keys: { form: 'inline', list }, keyName, keyVersion, binding });

async function copyOntoItself(
  { upstream, reader }: ProxyContext,
  record: UploadRecord,
  list: PartList,
  etag: string,
): Promise<string> {
  const { bucket, key } = record;
  const { headers } = await reader.stat({ bucket, key }, { headers: { 'if-match': etag } });
  const response = await upstream.send({
    method: 'PUT',
    bucket,
    key,
    headers: {
      ...storedHeaders(headers),
      ...record.repeat,
      ...inlineHeaders(record, list),
      'x-amz-copy-source': copySourceHeader({ bucket, key }),
      'x-amz-copy-source-if-match': etag,
      'x-amz-metadata-directive': 'REPLACE',
      'x-amz-tagging-directive': 'COPY',
    },
  });
  const copied = childText(await xmlResult(response, 'CopyObjectResult', answerLimit), 'ETag');
  if (copied === undefined) throw s3Error('InternalError', 'The object store named no ETag of the copy.');
  return copied;
}
