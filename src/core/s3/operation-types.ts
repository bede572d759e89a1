import type { S3Error } from './error.ts';
import { type S3ErrorCode, s3Error } from './error-catalog.ts';
import type { S3Request } from './request.ts';

export type OperationName =
  | 'PutObject'
  | 'GetObject'
  | 'HeadObject'
  | 'DeleteObject'
  | 'DeleteObjects'
  | 'CopyObject'
  | 'CreateMultipartUpload'
  | 'UploadPart'
  | 'UploadPartCopy'
  | 'CompleteMultipartUpload'
  | 'AbortMultipartUpload'
  | 'ListParts'
  | 'ListMultipartUploads'
  | 'ListObjects'
  | 'ListObjectsV2'
  | 'ListObjectVersions'
  | 'GetObjectAttributes'
  | 'ListBuckets'
  | 'DeleteBucket'
  | 'PassThrough';

/** `bodyCheck`: the body has to pass `checkRestoreBody` before it is passed on. */
export type Classified =
  | { readonly name: OperationName; readonly bodyCheck?: 'restore' }
  | { readonly name: 'Refused'; readonly error: S3Error };

/** What classification looks at. Headers are those after `mergeHoisted`. */
export type Subject = Pick<S3Request, 'method' | 'bucket' | 'key' | 'query' | 'headers'>;

export const passThrough: Classified = { name: 'PassThrough' };

export function refuse(code: S3ErrorCode, message?: string): Classified {
  return { name: 'Refused', error: s3Error(code, message) };
}

export function notImplemented(what: string): Classified {
  return refuse(
    'NotImplemented',
    `${what} would bypass encryption or is not known here, and is not implemented.`,
  );
}

/** Whether each of the request's parameters is in the list; `x-id` is a mark of AWS SDKs without meaning. */
export function onlyParameters({ query }: Subject, ...allowed: string[]): boolean {
  return query.entries.every(([name]) => name === 'x-id' || allowed.includes(name));
}
