import type { OperationName } from '../../core/s3/operation.ts';
import type { Handler } from './context.ts';
import { copyObject } from './copy/copy-object.ts';
import { uploadPartCopy } from './copy/upload-part-copy.ts';
import { createUpload } from './multipart/create-upload.ts';
import { abortUpload, completeUpload } from './multipart/end-upload.ts';
import { uploadPart } from './multipart/upload-part.ts';
import { deleteBucket } from './operations/delete-bucket.ts';
import { deleteObject, deleteObjects } from './operations/delete-objects.ts';
import { listBuckets } from './operations/list-buckets.ts';
import { createListHandler, listParts, SizeCache } from './operations/list-objects.ts';
import { getObjectAttributes } from './operations/object-attributes.ts';
import { passThrough } from './operations/pass-through.ts';
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
