import { s3Error } from '../../../core/s3/error-catalog.ts';
import { responseHeadersDownstream } from '../../../core/s3/headers.ts';
import { contentRange } from '../../../core/s3/range.ts';
import type { ByteRange, StoredObject } from './object-reader.ts';
import type { ReadRequest } from './read-request.ts';

type AnswerHeaders = Record<string, string>;

/** Headers of an answer that carries the whole plaintext. */
export const wholeHeaders = (object: StoredObject, size: number, { query }: ReadRequest): AnswerHeaders => ({
  ...responseHeadersDownstream(object.headers),
  ...overrides(query),
  'accept-ranges': 'bytes',
  'content-length': String(size),
});

/** Headers of an answer that carries a range of it. */
export const rangeHeaders = (
  object: StoredObject,
  size: number,
  range: ByteRange,
  request: ReadRequest,
): AnswerHeaders => ({
  ...wholeHeaders(object, range.end - range.start + 1, request),
  'content-range': contentRange(range, size),
});

const overridable =
  /^response-(content-type|content-language|expires|cache-control|content-disposition|content-encoding)$/;

/** `response-*` parameters; the store has applied them to a GET, but not each store does to a HEAD. */
function overrides(query: ReadRequest['query']): AnswerHeaders {
  const headers: AnswerHeaders = {};
  for (const [name, value] of query) {
    const header = overridable.exec(name)?.[1];
    if (header === undefined) continue;
    if (/[^\t\x20-\x7e\x80-\xff]/.test(value))
      throw s3Error('InvalidArgument', `${name} holds characters that a header cannot`);
    headers[header] = value;
  }
  return headers;
}
