import type { OperationName } from '../../core/s3/operation.ts';
import type { Handler } from './context.ts';
import { copyObject } from './copy/copy-object.ts';
import { uploadPartCopy } from './copy/upload-part-copy.ts';
import { deleteBucket } from './delete/delete-bucket.ts';
import { deleteObject } from './delete/delete-object.ts';
import { deleteObjects } from './delete/delete-objects.ts';
import { createListHandler } from './list/list-handler.ts';
import { getObjectAttributes } from './list/object-attributes.ts';
import { SizeCache } from './list/size-cache.ts';
import { abortUpload } from './multipart/abort-upload.ts';
import { completeUpload } from './multipart/complete-upload.ts';
import { createUpload } from './multipart/create-upload.ts';
import { listParts } from './multipart/list-parts.ts';
import { uploadPart } from './multipart/upload-part.ts';
import { listBuckets } from './passthrough/list-buckets.ts';
import { passThrough } from './passthrough/pass-through.ts';
import { getObject } from './read/get-object.ts';
import { headObject } from './read/head-object.ts';
import { putObject } from './write/put-object.ts';

export type Routes = Readonly<Record<OperationName, Handler>>;

/** Which handler answers which operation. */
export function createRoutes(): Routes {
  const sizes = new SizeCache();
  return {
    PutObject: putObject,
    GetObject: getObject,
    HeadObject: headObject,
    DeleteObject: deleteObject,
    DeleteObjects: deleteObjects,
    CopyObject: copyObject,
    CreateMultipartUpload: createUpload,
    UploadPart: uploadPart,
    UploadPartCopy: uploadPartCopy,
    CompleteMultipartUpload: completeUpload,
    AbortMultipartUpload: abortUpload,
    ListParts: listParts,
    ListMultipartUploads: createListHandler('ListMultipartUploads', sizes),
    ListObjects: createListHandler('ListObjects', sizes),
    ListObjectsV2: createListHandler('ListObjectsV2', sizes),
    ListObjectVersions: createListHandler('ListObjectVersions', sizes),
    GetObjectAttributes: getObjectAttributes,
    ListBuckets: listBuckets,
    DeleteBucket: deleteBucket,
    PassThrough: passThrough,
  };
}
