import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { s3Error } from '../../../objects/s3/error.ts';
import { descriptionHeaders } from '../../../objects/s3/headers.ts';
import {
  contentRange,
  parseRange,
  type ResolvedRange,
  resolveRange,
  unsatisfiedRange,
} from '../../../objects/s3/range.ts';
import { parseCopySource, type S3Request } from '../../../objects/s3/request.ts';
import {
  type CompletedPart,
  parseCompleteMultipart,
  parsePartNumber,
} from '../../../objects/s3/request-documents.ts';
import { element } from '../../../objects/s3/xml-text.ts';
import type { Catalog, DevUpload } from './catalog.ts';
import type { StoreExchange, StoreHandler, StoreLimits } from './exchange.ts';
import {
  checkWrite,
  type Description,
  type DevObject,
  describeObject,
  isoTime,
  judgeRead,
  names,
  namespace,
  type Part,
  partSize,
  quoted,
} from './object.ts';

/** GetObject and HeadObject: conditions, one range, part numbers. */
export const getObject: StoreHandler = async (exchange) => {
  const { catalog, request, reply } = exchange;
  const object = catalog.bucket(request.bucket).object(request.key, request.query.get('versionId'));
  const verdict = judgeRead(request.headers, object);
  if (verdict === 'failed') throw s3Error('PreconditionFailed');
  const validators = { etag: quoted(object.etag), 'last-modified': new Date(object.modified).toUTCString() };
  if (verdict === 'not-modified') return reply.empty(304, validators);
  await serve(exchange, object, { ...objectHeaders(object, request), ...validators });
};

type Headers = Record<string, string | number>;

function serve({ catalog, request, reply }: StoreExchange, object: DevObject, headers: Headers) {
  const range = rangeOf(request, object);
  if (range === 'unsatisfiable')
    return reply.empty(416, { 'content-range': unsatisfiedRange(object.size), 'content-length': 0 });
  const { start, end } = range ?? { start: 0, end: object.size - 1 };
  if (range) headers['content-range'] = contentRange(range, object.size);
  if (request.query.has('partNumber')) headers['x-amz-mp-parts-count'] = object.content.length;
  headers['content-length'] = end + 1 - start;
  const status = range ? 206 : 200;
  if (request.method === 'HEAD') return reply.empty(status, headers);
  return reply.stream(status, headers, catalog.blobs.read(object.content, start, end + 1));
}

function rangeOf(
  { headers, query }: S3Request,
  object: DevObject,
): ResolvedRange | 'unsatisfiable' | undefined {
  const part = query.get('partNumber');
  if (part !== undefined) return partRange(object, parsePartNumber(part));
  const asked = parseRange(headers.range);
  const ifRange = headers['if-range'];
  if (asked === undefined || (typeof ifRange === 'string' && !names(ifRange, object.etag))) return undefined;
  const range = resolveRange(asked, object.size) ?? 'unsatisfiable';
  return range === 'whole' ? undefined : range;
}

function partRange(
  { content, size }: DevObject,
  number: number,
): ResolvedRange | undefined | 'unsatisfiable' {
  if (number === 1 && content.length <= 1) return size === 0 ? undefined : { start: 0, end: size - 1 };
  const blob = content[number - 1];
  if (blob === undefined) return 'unsatisfiable';
  const start = content.slice(0, number - 1).reduce((sum, { size }) => sum + size, 0);
  return { start, end: start + blob.size - 1 };
}

function objectHeaders({ headers, tags }: DevObject, { query }: S3Request): Headers {
  const answer: Headers = { ...headers, 'accept-ranges': 'bytes' };
  if (tags.length > 0) answer['x-amz-tagging-count'] = tags.length;
  for (const name of descriptionHeaders) {
    const wanted = query.get(`response-${name}`);
    if (wanted !== undefined) answer[name] = wanted;
  }
  return answer;
}

const mostBytes = 5 * 1024 ** 3;
const conditions = 'x-amz-copy-source-';

/** The destination shares the source's content. */
export const copyObject: StoreHandler = async ({ catalog, request, payload, reply }) => {
  await payload.read(0);
  const { bucket: name, key, headers } = request;
  const bucket = catalog.bucket(name);
  const source = sourceOf(catalog, headers);
  if (source.size > mostBytes)
    throw s3Error('InvalidRequest', `The copy source is larger than ${mostBytes} bytes.`);
  if (isPointless(headers, source, name, key))
    throw s3Error('InvalidRequest', 'This copy of an object to itself changes nothing.');
  const description = describeCopy(headers, source);
  catalog.blobs.retain(source.content);
  try {
    const etag = await etagOf(catalog, source);
    checkWrite(headers, bucket.objects.get(key));
    const { size, content } = source;
    const copy = { ...description, bucket: name, key, etag, size, content, modified: Date.now() };
    catalog.put(copy);
    reply.xml(200, copyResultXml('CopyObjectResult', copy));
  } finally {
    catalog.blobs.release(source.content);
  }
};

/** The source of a copy. @throws S3Error PreconditionFailed */
export function sourceOf(catalog: Catalog, headers: IncomingHttpHeaders): DevObject {
  const { bucket, key, versionId } = parseCopySource(String(headers['x-amz-copy-source']));
  const source = catalog.bucket(bucket).object(key, versionId);
  if (judgeRead(headers, source, conditions) !== 'serve') throw s3Error('PreconditionFailed');
  return source;
}

const replaces = (headers: IncomingHttpHeaders, directive: string): boolean =>
  headers[directive] === 'REPLACE';

function isPointless(headers: IncomingHttpHeaders, source: DevObject, bucket: string, key: string): boolean {
  return source.bucket === bucket && source.key === key && !replaces(headers, 'x-amz-metadata-directive');
}

function describeCopy(headers: IncomingHttpHeaders, source: DevObject): Description {
  const own = describeObject(headers);
  return {
    headers: replaces(headers, 'x-amz-metadata-directive') ? own.headers : source.headers,
    tags: replaces(headers, 'x-amz-tagging-directive') ? own.tags : source.tags,
  };
}

/** A copy has one part, so its ETag is the MD5 of the whole. */
async function etagOf({ blobs }: Catalog, { etag, content, size }: DevObject): Promise<string> {
  if (!etag.includes('-')) return etag;
  const md5 = createHash('md5');
  for await (const chunk of blobs.read(content, 0, size)) md5.update(chunk);
  return md5.digest('hex');
}

/** @param more further fields */
export function copyResultXml(
  root: string,
  { modified, etag }: Pick<DevObject, 'modified' | 'etag'>,
  more = '',
): string {
  const fields = element('LastModified', isoTime(modified)) + element('ETag', quoted(etag)) + more;
  return `<${root} ${namespace}>${fields}</${root}>`;
}

/** 10,000 parts with every checksum that a client may add. */
const listLimit = 8 * 1024 ** 2;

export const completeUpload: StoreHandler = async ({ catalog, limits, request, payload, reply }) => {
  const xml = await payload.read(listLimit);
  const { bucket: name, key, headers } = request;
  const bucket = catalog.bucket(name);
  const open = bucket.upload(key, request.query.get('uploadId'));
  const parts = chosenParts(open, parseCompleteMultipart(xml));
  checkSizes(parts, headers, limits);
  checkWrite(headers, bucket.objects.get(key));
  const object = assemble(open, parts);
  catalog.put(object);
  catalog.endUpload(open.upload);
  reply.xml(200, uploadResultXml(object));
};

function chosenParts({ parts }: DevUpload, wanted: readonly CompletedPart[]): Part[] {
  return wanted.map(({ partNumber, etag }) => {
    const part = parts.get(partNumber);
    if (part?.etag !== etag)
      throw s3Error('InvalidPart', undefined, { details: { PartNumber: String(partNumber) } });
    return part;
  });
}

function checkSizes(
  parts: readonly Part[],
  headers: IncomingHttpHeaders,
  { leastPartBytes }: StoreLimits,
): void {
  if (parts.slice(0, -1).some((part) => partSize(part) < leastPartBytes)) throw s3Error('EntityTooSmall');
  const announced = headers['x-amz-mp-object-size'];
  if (announced !== undefined && Number(announced) !== total(parts))
    throw s3Error('InvalidRequest', 'The parts do not have the size that x-amz-mp-object-size gives.');
}

const total = (parts: readonly Part[]): number => parts.reduce((sum, part) => sum + partSize(part), 0);

function assemble({ upload }: DevUpload, parts: readonly Part[]): DevObject {
  const { bucket, key, headers, tags } = upload;
  const md5 = createHash('md5');
  for (const { etag } of parts) md5.update(etag, 'hex');
  const etag = `${md5.digest('hex')}-${parts.length}`;
  const content = parts.flatMap(({ blob }) => (blob ? [blob] : []));
  return { bucket, key, headers, tags, etag, size: total(parts), modified: Date.now(), content };
}

function uploadResultXml({ bucket, key, etag }: DevObject): string {
  const fields = [element('Bucket', bucket), element('Key', key), element('ETag', quoted(etag))].join('');
  const root = 'CompleteMultipartUploadResult';
  return `<${root} ${namespace}>${fields}</${root}>`;
}
