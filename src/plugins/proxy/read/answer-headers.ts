import { responseHeadersDownstream } from '../../../core/s3/headers.ts';
import { contentRange } from '../../../core/s3/range.ts';
import type { ByteRange, StoredObject } from './object-reader.ts';
import type { ReadRequest } from './read-request.ts';

type AnswerHeaders = Record<string, string>;

/** Headers of an answer that carries the whole plaintext. */
export const wholeHeaders = (
  object: StoredObject,
  size: number,
  { overrides }: ReadRequest,
): AnswerHeaders => ({
  ...responseHeadersDownstream(object.headers),
  ...overrides,
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
