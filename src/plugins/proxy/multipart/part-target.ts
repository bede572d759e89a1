import type { ObjectName } from '../../../core/envelope/binding.ts';
import { parsePartNumber } from '../../../core/s3/complete-multipart.ts';
import { s3Error } from '../../../core/s3/error-catalog.ts';
import type { S3Request } from '../../../core/s3/request.ts';
import type { ProxyContext } from '../context.ts';
import type { EncryptedPart } from '../write/encrypt-part.ts';
import type { UploadRecord } from './upload-record.ts';

/** Where a part goes. */
export interface PartTarget {
  readonly name: ObjectName;
  readonly number: number;
  readonly record: UploadRecord;
}

/**
 * @throws S3Error NoSuchUpload, InvalidArgument for a part number out of range, and
 *   OperationAborted when the upload was begun under another binding or transit key than this proxy's.
 */
export async function partTarget({ uploads, keys }: ProxyContext, request: S3Request): Promise<PartTarget> {
  const name = { bucket: request.bucket, key: request.key };
  const number = parsePartNumber(request.query.get('partNumber') ?? '');
  const record = await uploads.find(name, request.query.get('uploadId') ?? '');
  if (record.binding !== keys.scheme.binding || record.keyName !== keys.scheme.keyName)
    throw s3Error(
      'OperationAborted',
      `The upload was begun with --bind ${record.binding} and --transit-key ${record.keyName}, which this proxy does not have. Abort it and begin again.`,
    );
  return { name, number, record };
}

/** Makes the part known to whichever proxy completes the upload; to be done before its caller is answered. */
export const recordPart = (
  context: ProxyContext,
  { record }: PartTarget,
  { entry, etag, checksum, sealed }: EncryptedPart,
): Promise<void> => context.uploads.addPart(record, { part: entry, etag, checksum, sealed });
