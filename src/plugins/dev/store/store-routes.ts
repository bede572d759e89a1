import { s3Error } from '../../../core/s3/error-catalog.ts';
import type { OperationName } from '../../../core/s3/operation.ts';
import type { S3Request } from '../../../core/s3/request.ts';
import type { StoreHandler } from './exchange.ts';
import { readBucketConfiguration } from './operations/bucket-configuration.ts';
import { createBucket, deleteBucket, headBucket, listBuckets } from './operations/buckets.ts';
import { completeUpload } from './operations/complete-upload.ts';
import { copyObject } from './operations/copy-object.ts';
import { deleteObject, deleteObjects } from './operations/delete-objects.ts';
import { getObject } from './operations/get-object.ts';
import { listObjects, listObjectsV2, listObjectVersions } from './operations/list-objects.ts';
import { listParts } from './operations/list-parts.ts';
import { listUploads } from './operations/list-uploads.ts';
import { getObjectAttributes } from './operations/object-attributes.ts';
import { putObject } from './operations/put-object.ts';
import { objectTagging } from './operations/tagging.ts';
import { abortUpload, createUpload, uploadPart } from './operations/uploads.ts';

const notImplemented: StoreHandler = () => {
  throw s3Error('NotImplemented');
};

const handlers: Readonly<Record<Exclude<OperationName, 'PassThrough'>, StoreHandler>> = {
  PutObject: putObject,
  GetObject: getObject,
  HeadObject: getObject,
  DeleteObject: deleteObject,
  DeleteObjects: deleteObjects,
  CopyObject: copyObject,
  CreateMultipartUpload: createUpload,
  UploadPart: uploadPart,
  UploadPartCopy: notImplemented,
  CompleteMultipartUpload: completeUpload,
  AbortMultipartUpload: abortUpload,
  ListParts: listParts,
  ListMultipartUploads: listUploads,
  ListObjects: listObjects,
  ListObjectsV2: listObjectsV2,
  ListObjectVersions: listObjectVersions,
  GetObjectAttributes: getObjectAttributes,
  ListBuckets: listBuckets,
  DeleteBucket: deleteBucket,
};

const ofBucket: Readonly<Record<string, StoreHandler>> = {
  PUT: createBucket,
  HEAD: headBucket,
};

/** Who answers; NotImplemented for what a development store need not know. */
export function handlerOf(operation: OperationName, request: S3Request): StoreHandler {
  if (operation !== 'PassThrough') return handlers[operation];
  if (request.key !== '') return objectTagging;
  if (request.method === 'GET') return readBucketConfiguration;
  const plain = request.query.entries.every(([name]) => name === 'x-id');
  return (plain ? ofBucket[request.method] : undefined) ?? notImplemented;
}
