import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { S3Error, s3Error } from '../../../objects/s3/error.ts';
import type { OperationName } from '../../../objects/s3/operation.ts';
import { lengthToCopy, readCopyRange } from '../../../objects/s3/range.ts';
import type { Payload } from '../../../objects/s3/received-payload.ts';
import type { S3Request } from '../../../objects/s3/request.ts';
import {
  maxDeleteBytes,
  type ObjectToDelete,
  parseDeleteObjects,
  parsePartNumber,
} from '../../../objects/s3/request-documents.ts';
import { element } from '../../../objects/s3/xml-text.ts';
import type { SharedBlobs } from './blobs.ts';
import type { Bucket, Catalog } from './catalog.ts';
import type { StoreHandler } from './exchange.ts';
import { listObjects, listObjectsV2, listObjectVersions, listParts, listUploads } from './listings.ts';
import {
  type BlobRef,
  checkWrite,
  type DevObject,
  describeObject,
  isoTime,
  maxTaggingBytes,
  namespace,
  owner,
  parseTagging,
  quoted,
  taggingXml,
} from './object.ts';
import { completeUpload, copyObject, copyResultXml, getObject, sourceOf } from './object-routes.ts';

const notImplemented: StoreHandler = () => {
  throw s3Error('NotImplemented');
};

const putObject: StoreHandler = async ({ catalog, request, payload, reply, checksums }) => {
  const { bucket: name, key, headers } = request;
  const bucket = catalog.bucket(name);
  const description = describeObject(headers);
  checkWrite(headers, bucket.objects.get(key));
  await receive(catalog.blobs, bodyOf(payload), ({ blob, md5 }) => {
    checkWrite(headers, bucket.objects.get(key));
    const facts = { bucket: name, key, etag: md5, size: blob?.size ?? 0, modified: Date.now() };
    catalog.put({ ...description, ...facts, content: blob ? [blob] : [] });
    reply.empty(200, { etag: quoted(md5), ...checksums });
  });
};

const deleteObject: StoreHandler = ({ catalog, request, reply }) => {
  const bucket = catalog.bucket(request.bucket);
  checkWrite(request.headers, bucket.objects.get(request.key));
  catalog.remove(bucket, request.key);
  reply.empty(204);
};

const deleteObjects: StoreHandler = async ({ catalog, request, payload, reply }) => {
  const bucket = catalog.bucket(request.bucket);
  const { quiet, objects } = parseDeleteObjects(await payload.read(maxDeleteBytes));
  const results = objects.map((object) => deleteOne(catalog, bucket, object, quiet));
  reply.xml(200, `<DeleteResult ${namespace}>${results.join('')}</DeleteResult>`);
};

const createUpload: StoreHandler = async ({ catalog, request, payload, reply }) => {
  await payload.read(0);
  const { bucket, key, headers } = request;
  const id = randomBytes(24).toString('base64url');
  catalog.beginUpload({ ...describeObject(headers), id, bucket, key, begun: Date.now() });
  const fields = [element('Bucket', bucket), element('Key', key), element('UploadId', id)].join('');
  const root = 'InitiateMultipartUploadResult';
  reply.xml(200, `<${root} ${namespace}>${fields}</${root}>`);
};

const uploadPart: StoreHandler = async ({ catalog, request, payload, reply, checksums }) => {
  const { query } = request;
  const number = parsePartNumber(query.get('partNumber') ?? '');
  const { upload } = catalog.bucket(request.bucket).upload(request.key, query.get('uploadId'));
  await receive(catalog.blobs, bodyOf(payload), ({ blob, md5 }) => {
    catalog.putPart(upload, { number, etag: md5, blob, modified: Date.now() });
    reply.empty(200, { etag: quoted(md5), ...checksums });
  });
};

const uploadPartCopy: StoreHandler = async ({ catalog, request, payload, reply }) => {
  await payload.read(0);
  const { query, headers } = request;
  const number = parsePartNumber(query.get('partNumber') ?? '');
  const { upload } = catalog.bucket(request.bucket).upload(request.key, query.get('uploadId'));
  const source = sourceOf(catalog, headers);
  const asked = headers['x-amz-copy-source-range'];
  const range = asked === undefined ? undefined : readCopyRange(String(asked));
  const start = range?.start ?? 0;
  const content = catalog.blobs.read(source.content, start, start + lengthToCopy(range, source.size));
  const checksum = Buffer.alloc(4);
  await receive(catalog.blobs, summed(content, checksum), ({ blob, md5 }) => {
    const part = { number, etag: md5, blob, modified: Date.now() };
    catalog.putPart(upload, part);
    const sum = element('ChecksumCRC32', checksum.toString('base64'));
    reply.xml(200, copyResultXml('CopyPartResult', part, sum));
  });
};

/** Passes the chunks on; afterwards `checksum` holds their CRC-32. */
async function* summed(chunks: AsyncIterable<Buffer>, checksum: Buffer): AsyncGenerator<Buffer> {
  let sum = 0;
  for await (const chunk of chunks) {
    sum = crc32(chunk, sum);
    yield chunk;
  }
  checksum.writeUInt32BE(sum);
}

const abortUpload: StoreHandler = ({ catalog, request, reply }) => {
  catalog.endUpload(catalog.bucket(request.bucket).upload(request.key, request.query.get('uploadId')).upload);
  reply.empty(204);
};

const getObjectAttributes: StoreHandler = ({ catalog, request, reply }) => {
  const object = catalog.bucket(request.bucket).object(request.key, request.query.get('versionId'));
  const wanted = String(request.headers['x-amz-object-attributes'] ?? '').split(',');
  const fields = wanted.map((name) => attributes[name.trim()]?.(object));
  if (fields.includes(undefined)) throw s3Error('InvalidArgument', 'Invalid attribute name specified.');
  const root = 'GetObjectAttributesResponse';
  const modified = new Date(object.modified).toUTCString();
  reply.xml(200, `<${root} ${namespace}>${fields.join('')}</${root}>`, { 'last-modified': modified });
};

const attributes: Readonly<Record<string, (object: DevObject) => string>> = {
  ETag: ({ etag }) => element('ETag', etag),
  Checksum: () => '',
  ObjectParts: partsXml,
  StorageClass: () => element('StorageClass', 'STANDARD'),
  ObjectSize: ({ size }) => element('ObjectSize', size),
};

const listBuckets: StoreHandler = ({ catalog, reply }) => {
  const buckets = catalog
    .buckets()
    .map(
      ({ name, created }) =>
        `<Bucket>${element('Name', name)}${element('CreationDate', isoTime(created))}</Bucket>`,
    );
  const root = 'ListAllMyBucketsResult';
  reply.xml(200, `<${root} ${namespace}>${owner}<Buckets>${buckets.join('')}</Buckets></${root}>`);
};

const deleteBucket: StoreHandler = ({ catalog, request, reply }) => {
  catalog.deleteBucket(request.bucket);
  reply.empty(204);
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
  UploadPartCopy: uploadPartCopy,
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

const createBucket: StoreHandler = async ({ catalog, request, payload, reply }) => {
  await payload.read(configurationBytes);
  catalog.createBucket(request.bucket);
  reply.empty(200, { location: `/${request.bucket}` });
};

const configurationBytes = 64 * 1024;

const headBucket: StoreHandler = ({ catalog, request, reply }) => {
  catalog.bucket(request.bucket);
  reply.empty(200, { 'x-amz-bucket-region': 'us-east-1' });
};

const ofBucket: Readonly<Record<string, StoreHandler>> = {
  PUT: createBucket,
  HEAD: headBucket,
};

/** The handler of an operation; NotImplemented for operations that a development store does not need. */
export function handlerOf(operation: OperationName, request: S3Request): StoreHandler {
  if (operation !== 'PassThrough') return handlers[operation];
  if (request.key !== '') return objectTagging;
  if (request.method === 'GET') return readBucketConfiguration;
  const plain = request.query.entries.every(([name]) => name === 'x-id');
  return (plain ? ofBucket[request.method] : undefined) ?? notImplemented;
}

/** GET, PUT and DELETE of `?tagging` of an object. */
const objectTagging: StoreHandler = async ({ catalog, request, payload, reply }) => {
  const { bucket, key, query, method } = request;
  if (!query.has('tagging')) throw s3Error('NotImplemented');
  const body = await payload.read(maxTaggingBytes);
  const object = catalog.bucket(bucket).object(key, query.get('versionId'));
  if (method === 'GET') return reply.xml(200, taggingXml(object.tags));
  catalog.put({ ...object, tags: method === 'PUT' ? parseTagging(body) : [] });
  reply.empty(method === 'PUT' ? 200 : 204);
};

function partsXml({ etag, content }: DevObject): string {
  return etag.includes('-') ? `<ObjectParts>${element('TotalPartsCount', content.length)}</ObjectParts>` : '';
}

type Told = string | (() => S3Error);

const absent = (code: string, message: string) => () => new S3Error(code, 404, message);

/** Responses of a bucket without configuration. Changing it is not implemented. */
const defaults: Readonly<Record<string, Told>> = {
  versioning: `<VersioningConfiguration ${namespace}/>`,
  location: `<LocationConstraint ${namespace}/>`,
  'object-lock': absent(
    'ObjectLockConfigurationNotFoundError',
    'Object Lock configuration does not exist for this bucket',
  ),
  tagging: absent('NoSuchTagSet', 'The TagSet does not exist'),
  lifecycle: absent('NoSuchLifecycleConfiguration', 'The lifecycle configuration does not exist'),
  policy: absent('NoSuchBucketPolicy', 'The bucket policy does not exist'),
  cors: absent('NoSuchCORSConfiguration', 'The CORS configuration does not exist'),
};

const readBucketConfiguration: StoreHandler = ({ catalog, request, reply }) => {
  catalog.bucket(request.bucket);
  const told = Object.entries(defaults).find(([name]) => request.query.has(name))?.[1];
  if (told === undefined) throw s3Error('NotImplemented');
  if (typeof told !== 'string') throw told();
  reply.xml(200, told);
};

function deleteOne(catalog: Catalog, bucket: Bucket, { key, etag }: ObjectToDelete, quiet: boolean): string {
  try {
    checkWrite(etag === undefined ? {} : { 'if-match': etag }, bucket.objects.get(key));
    catalog.remove(bucket, key);
    return quiet ? '' : `<Deleted>${element('Key', key)}</Deleted>`;
  } catch (error) {
    if (!(error instanceof S3Error)) throw error;
    const fields = [element('Key', key), element('Code', error.code), element('Message', error.message)];
    return `<Error>${fields.join('')}</Error>`;
  }
}

export interface Received {
  /** Undefined for an empty body. */
  readonly blob: BlobRef | undefined;
  /** Hexadecimal. */
  readonly md5: string;
}

/**
 * Receives a whole body and passes it to `use`; the body is removed afterwards unless `use` retains it. A truncated or
 * invalid body leaves nothing.
 * @throws S3Error
 */
async function receive(
  blobs: SharedBlobs,
  body: AsyncIterable<Buffer>,
  use: (received: Received) => void,
): Promise<void> {
  const received = await write(blobs, body);
  const content = received.blob ? [received.blob] : [];
  blobs.retain(content);
  try {
    use(received);
  } finally {
    blobs.release(content);
  }
}

function bodyOf(payload: Payload): AsyncIterable<Buffer> {
  if (payload.length === undefined) throw s3Error('MissingContentLength');
  return payload.chunks();
}

async function write(blobs: SharedBlobs, body: AsyncIterable<Buffer>): Promise<Received> {
  const md5 = createHash('md5');
  const writer = await blobs.create();
  let size = 0;
  try {
    for await (const chunk of body) {
      md5.update(chunk);
      size += chunk.length;
      await writer.write(chunk);
    }
  } catch (error) {
    await writer.discard();
    throw error;
  }
  if (size === 0) await writer.discard();
  return { blob: size === 0 ? undefined : await writer.commit(), md5: md5.digest('hex') };
}
