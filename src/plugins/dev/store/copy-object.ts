import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { s3Error } from '../../../core/s3/error.ts';
import { parseCopySource } from '../../../core/s3/request.ts';
import { element } from '../../../core/s3/xml-text.ts';
import type { Catalog } from './catalog.ts';
import type { StoreHandler } from './exchange.ts';
import {
  checkWrite,
  type Description,
  describeObject,
  isoTime,
  judgeRead,
  namespace,
  quoted,
  type StoredObject,
} from './object.ts';

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
    reply.xml(200, resultXml(copy));
  } finally {
    catalog.blobs.release(source.content);
  }
};

function sourceOf(catalog: Catalog, headers: IncomingHttpHeaders): StoredObject {
  const { bucket, key, versionId } = parseCopySource(String(headers['x-amz-copy-source']));
  const source = catalog.bucket(bucket).object(key, versionId);
  if (judgeRead(headers, source, conditions) !== 'serve') throw s3Error('PreconditionFailed');
  return source;
}

const replaces = (headers: IncomingHttpHeaders, directive: string): boolean =>
  headers[directive] === 'REPLACE';

function isPointless(
  headers: IncomingHttpHeaders,
  source: StoredObject,
  bucket: string,
  key: string,
): boolean {
  return source.bucket === bucket && source.key === key && !replaces(headers, 'x-amz-metadata-directive');
}

function describeCopy(headers: IncomingHttpHeaders, source: StoredObject): Description {
  const own = describeObject(headers);
  return {
    headers: replaces(headers, 'x-amz-metadata-directive') ? own.headers : source.headers,
    tags: replaces(headers, 'x-amz-tagging-directive') ? own.tags : source.tags,
  };
}

/** A copy is of one part: its ETag is the MD5 of the whole. */
async function etagOf({ blobs }: Catalog, { etag, content, size }: StoredObject): Promise<string> {
  if (!etag.includes('-')) return etag;
  const md5 = createHash('md5');
  for await (const chunk of blobs.read(content, 0, size)) md5.update(chunk);
  return md5.digest('hex');
}

function resultXml({ modified, etag }: StoredObject): string {
  const fields = element('LastModified', isoTime(modified)) + element('ETag', quoted(etag));
  return `<CopyObjectResult ${namespace}>${fields}</CopyObjectResult>`;
}
