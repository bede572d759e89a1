import { createHash } from 'node:crypto';
import { completed, listed, removed, uploadsListed } from './documents.ts';
import { StoredBucket, type StoredVersion, type StoreReply, type StoreRequest } from './model.ts';

type StoreOperation = (bucket: StoredBucket, request: StoreRequest) => StoreReply;

/** Answers as an honest store does, as far as the proxy needs it; state is per bucket, and a bucket comes with its first request. */
export class MemoryS3 {
  readonly #buckets = new Map<string, StoredBucket>();

  bucket(name: string): StoredBucket {
    let bucket = this.#buckets.get(name);
    if (bucket === undefined) {
      bucket = new StoredBucket();
      this.#buckets.set(name, bucket);
    }
    return bucket;
  }

  forget(name: string): void {
    this.#buckets.delete(name);
  }

  answer(request: StoreRequest): StoreReply {
    return operationOf(request)(this.bucket(request.bucket), request);
  }
}

function operationOf({ method, key, query, headers }: StoreRequest): StoreOperation {
  if (key === '') return bucketOperation(method, query);
  if (method === 'PUT' && query.has('partNumber')) return putPart;
  if (method === 'PUT' && headers['x-amz-copy-source'] !== undefined) return copy;
  if (method === 'PUT') return put;
  if (method === 'POST' && query.has('uploads')) return createUpload;
  if (method === 'POST' && query.has('uploadId')) return completeUpload;
  if (method === 'DELETE' && query.has('uploadId')) return abortUpload;
  if (method === 'DELETE') return remove;
  if (query.has('uploadId')) return listParts;
  if (query.has('attributes')) return attributes;
  return get;
}

function bucketOperation(method: string, query: ReadonlyMap<string, string>): StoreOperation {
  if (method === 'POST') return (bucket, { body }) => removed(bucket, body.toString());
  if (method !== 'GET') return () => reply(200);
  if (query.has('versioning')) return () => xml('<VersioningConfiguration></VersioningConfiguration>');
  if (query.has('object-lock')) return () => refusal(404, 'ObjectLockConfigurationNotFoundError');
  if (query.has('uploads')) return (bucket, request) => uploadsListed(bucket, request.query);
  return (bucket, request) => listed(bucket, request.query);
}

export const reply = (
  status: number,
  headers: Record<string, string> = {},
  body: Buffer = Buffer.alloc(0),
): StoreReply => ({
  status,
  headers: Object.entries(headers),
  body,
});

export const xml = (text: string, status = 200): StoreReply =>
  reply(
    status,
    { 'content-type': 'application/xml' },
    Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>\n${text}`),
  );

export const refusal = (status: number, code: string): StoreReply =>
  xml(`<Error><Code>${code}</Code><Message>${code}</Message></Error>`, status);

const md5 = (body: Uint8Array) => createHash('md5').update(body).digest('hex');

const kept =
  /^(x-amz-meta-|content-type$|cache-control$|content-disposition$|content-encoding$|content-language$|expires$)/;
const keptOf = (headers: StoreRequest['headers']) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => kept.test(name)));

const put: StoreOperation = (bucket, { key, headers, body }) => {
  const etag = `"${md5(body)}"`;
  bucket.put(key, { body, headers: keptOf(headers), etag, modified: new Date() });
  return reply(200, { etag });
};

const copy: StoreOperation = (bucket, { key, headers }) => {
  const [, source = ''] = /^\/?[^/]+\/([^?]*)/.exec(headers['x-amz-copy-source'] ?? '') ?? [];
  const from = bucket.objects.get(decodeURIComponent(source));
  if (from === undefined) return refusal(404, 'NoSuchKey');
  if (!holds(headers['x-amz-copy-source-if-match'], from)) return refusal(412, 'PreconditionFailed');
  const own = headers['x-amz-metadata-directive'] === 'REPLACE' ? keptOf(headers) : from.headers;
  bucket.put(key, { ...from, headers: own, modified: new Date() });
  return xml(
    `<CopyObjectResult><LastModified>${new Date().toISOString()}</LastModified><ETag>${from.etag}</ETag></CopyObjectResult>`,
  );
};

const holds = (etags: string | undefined, { etag }: StoredVersion): boolean =>
  etags === undefined ||
  etags === '*' ||
  etags.split(',').some((one) => one.trim() === etag || `"${one.trim()}"` === etag);

export function describe({ headers, etag, modified }: StoredVersion): Record<string, string> {
  return { ...headers, etag, 'last-modified': modified.toUTCString(), 'accept-ranges': 'bytes' };
}

const get: StoreOperation = (bucket, { key, headers }) => {
  const version = bucket.objects.get(key);
  if (version === undefined) return refusal(404, 'NoSuchKey');
  if (!holds(headers['if-match'], version)) return refusal(412, 'PreconditionFailed');
  if (headers['if-none-match'] !== undefined && holds(headers['if-none-match'], version))
    return reply(304, { etag: version.etag });
  const { body } = version;
  const described = describe(version);
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(headers['range'] ?? '') ?? [];
  if (from === '' && to === '') return reply(200, described, body);
  const start = from === '' ? Math.max(0, body.length - Number(to)) : Number(from);
  const end = from === '' || to === '' ? body.length - 1 : Math.min(Number(to), body.length - 1);
  if (start >= body.length) return refusal(416, 'InvalidRange');
  return reply(
    206,
    { ...described, 'content-range': `bytes ${start}-${end}/${body.length}` },
    body.subarray(start, end + 1),
  );
};

const remove: StoreOperation = (bucket, { key }) => {
  bucket.objects.delete(key);
  return reply(204);
};

const createUpload: StoreOperation = (bucket, { bucket: name, key, headers }) => {
  const id = `upload-${name}-${++bucket.uploadCount}`;
  bucket.uploads.set(id, { key, headers: keptOf(headers), parts: new Map(), every: [] });
  return xml(
    `<InitiateMultipartUploadResult><Bucket>${name}</Bucket><Key>${key}</Key><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
  );
};

const uploadOf = (bucket: StoredBucket, { query, key }: StoreRequest) => {
  const upload = bucket.uploads.get(query.get('uploadId') ?? '');
  return upload?.key === key ? upload : undefined;
};

const putPart: StoreOperation = (bucket, request) => {
  const upload = uploadOf(bucket, request);
  if (upload === undefined) return refusal(404, 'NoSuchUpload');
  const part = { body: request.body, etag: `"${md5(request.body)}"` };
  const number = Number(request.query.get('partNumber'));
  upload.parts.set(number, part);
  upload.every.push({ number, part });
  return reply(200, { etag: part.etag });
};

const completeUpload: StoreOperation = (bucket, request) => {
  const upload = uploadOf(bucket, request);
  if (upload === undefined) return refusal(404, 'NoSuchUpload');
  const named = [
    ...request.body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber>\s*<ETag>([^<]*)<\/ETag>/g),
  ];
  const parts = named.map(([, number = '', etag = '']) => {
    const part = upload.parts.get(Number(number));
    return part && part.etag.replaceAll('"', '') === etag.replaceAll(/&quot;|"/g, '') ? part : undefined;
  });
  if (parts.length === 0 || parts.includes(undefined)) return refusal(400, 'InvalidPart');
  const body = Buffer.concat(parts.map((part) => part?.body ?? Buffer.alloc(0)));
  const etag = `"${md5(body)}-${parts.length}"`;
  bucket.put(upload.key, { body, headers: upload.headers, etag, modified: new Date() });
  bucket.uploads.delete(request.query.get('uploadId') ?? '');
  return xml(completed(request.bucket, upload.key, etag));
};

const abortUpload: StoreOperation = (bucket, { query }) =>
  bucket.uploads.delete(query.get('uploadId') ?? '') ? reply(204) : refusal(404, 'NoSuchUpload');

const listParts: StoreOperation = (bucket, request) => {
  const upload = uploadOf(bucket, request);
  if (upload === undefined) return refusal(404, 'NoSuchUpload');
  const parts = [...upload.parts].map(
    ([number, { etag, body }]) =>
      `<Part><PartNumber>${number}</PartNumber><ETag>${etag}</ETag><Size>${body.length}</Size></Part>`,
  );
  return xml(
    `<ListPartsResult><Bucket>${request.bucket}</Bucket><Key>${request.key}</Key>${parts.join('')}<IsTruncated>false</IsTruncated></ListPartsResult>`,
  );
};

const attributes: StoreOperation = (bucket, { key }) => {
  const version = bucket.objects.get(key);
  if (version === undefined) return refusal(404, 'NoSuchKey');
  const { etag, body } = version;
  return xml(
    `<GetObjectAttributesResponse><ETag>${etag.replaceAll('"', '')}</ETag><ObjectSize>${body.length}</ObjectSize></GetObjectAttributesResponse>`,
  );
};
