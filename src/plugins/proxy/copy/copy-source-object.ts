import { s3Error } from '../../../core/s3/error-catalog.ts';
import type { ProxyContext } from '../context.ts';
import type { ObjectLayout, StoredObject } from '../read/object-reader.ts';
import type { CopyRequest } from './copy-request.ts';

/** S3 copies at most this many bytes by one request. */
export const maxCopyBytes = 5 * 1024 ** 3;

export interface SourceObject {
  readonly object: StoredObject;
  readonly layout: ObjectLayout;
}

/** Looks at the source under the caller's conditions. @throws S3Error as the store refuses, PreconditionFailed */
export async function statSource(
  { reader }: Pick<ProxyContext, 'reader'>,
  { source: { bucket, key, versionId }, conditions, sourceAccess }: CopyRequest,
  signal: AbortSignal,
): Promise<SourceObject> {
  const object = await reader.stat(
    { bucket, key },
    { versionId, headers: conditions, access: sourceAccess, signal },
  );
  return { object, layout: await reader.layout(object, signal) };
}

export const sourceTooLarge = () =>
  s3Error(
    'InvalidRequest',
    `The specified copy source is larger than the maximum allowable size for a copy source: ${maxCopyBytes}`,
  );
