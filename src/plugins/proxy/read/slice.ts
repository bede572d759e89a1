import { S3Error } from '../../../core/s3/error.ts';
import { inward, unquote } from '../../../core/s3/etag.ts';
import { resolveRange } from '../../../core/s3/range.ts';
import type { ByteRange, ObjectLayout, StoredObject } from './object-reader.ts';
import type { ReadRequest } from './read-request.ts';

/** What of an object's plaintext answers a request. */
export type Slice =
  | 'whole'
  | 'unsatisfied'
  | { readonly range: ByteRange; readonly headers: Readonly<Record<string, string>> };

/** @throws S3Error 416 for a part number that the object does not have. */
export function chooseSlice(object: StoredObject, layout: ObjectLayout, request: ReadRequest): Slice {
  if (request.partNumber !== undefined) return partSlice(layout, request.partNumber);
  if (request.range === undefined || !rangeHolds(object, request.ifRange)) return 'whole';
  const range = resolveRange(request.range, layout.size);
  return range === undefined ? 'unsatisfied' : { range, headers: {} };
}

/** Parts are counted in their order, whatever numbers they were uploaded under. An empty one is no range. */
function partSlice({ size, list }: ObjectLayout, number: number): Slice {
  const sizes = list?.parts.map((part) => part.size) ?? [size];
  const length = sizes[number - 1];
  if (length === undefined)
    throw new S3Error('InvalidPartNumber', 416, 'The requested partnumber is not satisfiable');
  if (length === 0) return size === 0 ? 'whole' : 'unsatisfied';
  const start = sizes.slice(0, number - 1).reduce((sum, part) => sum + part, 0);
  const headers: Record<string, string> =
    list === undefined ? {} : { 'x-amz-mp-parts-count': String(sizes.length) };
  return { range: { start, end: start + length - 1 }, headers };
}

/** RFC 9110, 13.1.5: a strong ETag or the exact date; anything else asks for the whole. */
function rangeHolds({ etag, headers }: StoredObject, ifRange: string | undefined): boolean {
  if (ifRange === undefined || ifRange === headers['last-modified']) return true;
  return unquote(inward(ifRange)) === unquote(etag);
}
