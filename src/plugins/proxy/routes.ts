import type { ObjectName } from '../../core/envelope/binding.ts';
import { plaintextSize } from '../../core/envelope/format.ts';
import { outward } from '../../core/s3/etag.ts';
import { requestHeadersUpstream, responseHeadersDownstream } from '../../core/s3/headers.ts';
import { rewriteListing } from '../../core/s3/list-rewrite.ts';
import { scanListing } from '../../core/s3/list-scan.ts';
import type { OperationName } from '../../core/s3/operation.ts';
import type { Exchange, Handler, ProxyContext } from './context.ts';
import { copyObject } from './copy/copy-object.ts';
import { uploadPartCopy } from './copy/upload-part-copy.ts';
import { deleteBucket } from './delete/delete-bucket.ts';
import { deleteObjects } from './delete/delete-objects.ts';
import { manifestOf, removeManifest } from './delete/manifest-of.ts';
import { createListHandler } from './list/list-handler.ts';
import { getObjectAttributes } from './list/object-attributes.ts';
import { SizeCache } from './list/size-cache.ts';
import { completedObject } from './multipart/complete-once.ts';
import { completeUpload } from './multipart/complete-upload.ts';
import { createUpload } from './multipart/create-upload.ts';
import { partTarget, recordPart } from './multipart/part-target.ts';
import type { UploadRecord } from './multipart/upload-record.ts';
import { listBuckets } from './passthrough/list-buckets.ts';
import { forward, passThrough } from './passthrough/pass-through.ts';
import { wholeHeaders } from './read/answer-headers.ts';
import { deliver, readOptions } from './read/deliver.ts';
import { getSlice } from './read/get-slice.ts';
import { headObject } from './read/head-object.ts';
import type { ObjectLayout, StoredObject } from './read/object-reader.ts';
import { passOn, passRefusalOn } from './read/pass-on.ts';
import { readAgain } from './read/read-again.ts';
import { type ReadRequest, readRequest } from './read/read-request.ts';
import { readBody } from './upstream/read-body.ts';
import { refusal } from './upstream/refusal.ts';
import type { UpstreamResponse } from './upstream/upstream.ts';
import { encryptPart } from './write/encrypt-part.ts';
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

/** DeleteObject; a multipart object's part list goes after it. */
const deleteObject: Handler = async (context, exchange) => {
  const { request, payload, signal, answer } = exchange;
  const body = await payload.read(0);
  const name = { bucket: request.bucket, key: request.key };
  const manifest = request.query.has('versionId') ? undefined : await manifestOf(context, name, signal);
  const response = await forward(context, exchange, body);
  if (response.status >= 300) throw await refusal(response);
  response.body.resume();
  await removeManifest(context, name, manifest);
  answer.head(204, responseHeadersDownstream(response.headers));
  await answer.end();
};

/** UploadPart: encrypted under a DEK of its own and recorded before the caller hears of it. */
const uploadPart: Handler = async (context, exchange) => {
  const { request, payload, signal } = exchange;
  const target = await partTarget(context, request);
  const part = await encryptPart(context, {
    name: target.name,
    uploadId: target.record.uploadId,
    manifest: target.record.manifest,
    number: target.number,
    source: payload.chunks(target.record.checksum?.algorithm),
    length: payload.length,
    checksums: payload.checksums,
    headers: request.headers,
    signal,
  });
  await recordPart(context, target, part);
  exchange.answer.head(200, part.answer);
  await exchange.answer.end();
};

const listingLimit = 4 * 1024 * 1024;

/** ListParts with plaintext sizes; the store's checksums are of ciphertext and are left out. */
const listParts: Handler = async (context, { request, answer, held, signal, payload }) => {
  await payload.read(0);
  await held.begin();
  const { bucket, key, query, headers } = request;
  const response = await context.upstream.send({
    method: 'GET',
    bucket,
    key,
    query: query.entries,
    headers: requestHeadersUpstream(headers),
    signal,
  });
  if (response.status !== 200) throw await refusal(response);
  const listing = scanListing((await readBody(response, listingLimit, held)).toString());
  const xml = rewriteListing(listing, ({ etag, size }) => ({
    ...(etag === undefined ? {} : { etag: outward(etag) }),
    ...(size === undefined ? {} : { size: plaintextSize(size) ?? size }),
  }));
  answer.head(200, { 'content-type': 'application/xml' });
  await answer.end(xml);
};

/** AbortMultipartUpload: the store forgets the parts, then the records go; what fails there is left to `svc proxy gc`. */
const abortUpload: Handler = async (context, { request, answer, signal, log, payload }) => {
  await payload.read(0);
  const name = { bucket: request.bucket, key: request.key };
  const uploadId = request.query.get('uploadId') ?? '';
  const record = await context.uploads.find(name, uploadId).catch(() => undefined);
  const response = await context.upstream.send({
    method: 'DELETE',
    ...name,
    query: request.query.entries,
    headers: requestHeadersUpstream(request.headers),
    signal,
  });
  if (response.status >= 300) throw await refusal(response);
  response.body.resume();
  await forget(context, name, uploadId, record).catch((error: Error) => {
    log.warn('proxy.upload.records-left', { error: error.message });
  });
  answer.head(204, {});
  await answer.end();
};

/** A Complete that failed may have left a manifest. Stores may let a completed upload be aborted too. */
async function forget(
  context: ProxyContext,
  name: ObjectName,
  uploadId: string,
  record: UploadRecord | undefined,
): Promise<void> {
  await context.uploads.abandon(name, uploadId);
  if (record === undefined || (await context.manifests.find(name, record.manifest)) === undefined) return;
  if ((await completedObject(context, record)) === undefined)
    await removeManifest(context, name, record.manifest);
}

/** GetObject: the whole by one request to the store, ranges and parts after a look at the headers. */
export const getObject: Handler = async (context, exchange) => {
  const request = readRequest(exchange.request);
  const sliced = request.range !== undefined || request.partNumber !== undefined;
  await readAgain(exchange.answer, () =>
    sliced ? getSlice(context, exchange, request) : getWhole(context, exchange, request),
  );
};

async function getWhole(context: ProxyContext, exchange: Exchange, request: ReadRequest): Promise<void> {
  const { address, query, headers } = request;
  const { signal } = exchange;
  const response = await context.upstream.send({ method: 'GET', ...address.name, query, headers, signal });
  if (response.status !== 200) return passRefusalOn(exchange, response);
  const read = await begin(context, exchange, request, response);
  if (read === undefined) return passOn(exchange, response);
  const { object, layout } = read;
  const chunks = context.reader.decrypt(object, layout, response, readOptions(exchange));
  await deliver(exchange, 200, wholeHeaders(object, layout.size, request), chunks);
}

/** The body waits meanwhile. @returns undefined for an object that is not encrypted. */
async function begin(
  { reader }: ProxyContext,
  { signal }: Exchange,
  { address }: ReadRequest,
  response: UpstreamResponse,
): Promise<{ object: StoredObject; layout: ObjectLayout } | undefined> {
  try {
    const object = reader.describe(address, response.headers);
    return object.envelope && { object, layout: await reader.layout(object, signal) };
  } catch (error) {
    response.body.destroy();
    throw error;
  }
}
