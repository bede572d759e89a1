import { s3Error } from '../../../core/s3/error.ts';
import {
  contentRange,
  parseRange,
  type ResolvedRange,
  resolveRange,
  unsatisfiedRange,
} from '../../../core/s3/range.ts';
import type { S3Request } from '../../../core/s3/request.ts';
import { parsePartNumber } from '../../../core/s3/request-documents.ts';
import type { StoreExchange, StoreHandler } from './exchange.ts';
import { judgeRead, names, quoted, type StoredObject } from './object.ts';

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

function serve({ catalog, request, reply }: StoreExchange, object: StoredObject, headers: Headers) {
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
  object: StoredObject,
): ResolvedRange | 'unsatisfiable' | undefined {
  const part = query.get('partNumber');
  if (part !== undefined) return partRange(object, parsePartNumber(part));
  const asked = parseRange(headers.range);
  const ifRange = headers['if-range'];
  if (asked === undefined || (typeof ifRange === 'string' && !names(ifRange, object.etag))) return undefined;
  return resolveRange(asked, object.size) ?? 'unsatisfiable';
}

function partRange(
  { content, size }: StoredObject,
  number: number,
): ResolvedRange | undefined | 'unsatisfiable' {
  if (number === 1 && content.length <= 1) return size === 0 ? undefined : { start: 0, end: size - 1 };
  const blob = content[number - 1];
  if (blob === undefined) return 'unsatisfiable';
  const start = content.slice(0, number - 1).reduce((sum, { size }) => sum + size, 0);
  return { start, end: start + blob.size - 1 };
}

const overridable = [
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-type',
  'expires',
];

function objectHeaders({ headers, tags }: StoredObject, { query }: S3Request): Headers {
  const answer: Headers = { ...headers, 'accept-ranges': 'bytes' };
  if (tags.length > 0) answer['x-amz-tagging-count'] = tags.length;
  for (const name of overridable) {
    const wanted = query.get(`response-${name}`);
    if (wanted !== undefined) answer[name] = wanted;
  }
  return answer;
}
