import type { IncomingHttpHeaders } from 'node:http';
import type { ObjectsConfig } from '../config.ts';
import { type PartChecksums, partChecksum } from '../format/sealed-checksums.ts';
import { s3Error } from '../s3/error.ts';
import {
  inward,
  requestHeadersUpstream,
  responseHeadersDownstream,
  unquote,
  withoutEnvelope,
} from '../s3/headers.ts';
import { contentRange, parseRange, resolveRange } from '../s3/range.ts';
import type { S3Request } from '../s3/request.ts';
import type { ByteRange, ObjectAddress, ObjectLayout, StoredObject } from './stored-object.ts';

const accessNames =
  /^x-amz-(request-payer|expected-bucket-owner|server-side-encryption-customer-(algorithm|key|key-md5))$/;

/** A parsed GET or HEAD request. */
export interface ReadRequest {
  readonly address: ObjectAddress;
  /** For the store: access headers, and conditions with the store's ETags; no range. */
  readonly headers: Readonly<Record<string, string>>;
  /** For the store: version and response header overrides; no part number. */
  readonly query: readonly (readonly [string, string])[];
  /** Response headers requested in the query, validated before the store is asked. */
  readonly overrides: Readonly<Record<string, string>>;
  /** Undefined also for ranges that S3 ignores, such as multiple ranges. */
  readonly range: ReturnType<typeof parseRange>;
  readonly ifRange: string | undefined;
  readonly partNumber: number | undefined;
  /** Whether the caller asks for the checksum of the whole object. */
  readonly checksum: boolean;
  readonly envelopeHeaders: ObjectsConfig['envelopeHeaders'];
}

/** @throws S3Error InvalidArgument, InvalidRequest */
export function readRequest(
  { bucket, key, query, headers }: S3Request,
  { envelopeHeaders }: Pick<ObjectsConfig, 'envelopeHeaders'>,
): ReadRequest {
  const checksum = String(headers['x-amz-checksum-mode']).toUpperCase() === 'ENABLED';
  const upstream = {
    ...requestHeadersUpstream(headers),
    // the store's own checksums are shown for unencrypted objects
    ...(checksum && { 'x-amz-checksum-mode': 'ENABLED' }),
  };
  const partNumber = readPartNumber(query.get('partNumber'));
  if (partNumber !== undefined && headers.range !== undefined)
    throw s3Error('InvalidRequest', 'Cannot specify both Range header and partNumber query parameter');
  return {
    address: { name: { bucket, key }, versionId: query.get('versionId'), access: accessHeaders(upstream) },
    headers: upstream,
    query: query.entries.filter(([name]) => name !== 'partNumber'),
    overrides: overridesIn(query.entries),
    range: parseRange(headers.range),
    ifRange: single(headers['if-range']),
    partNumber,
    checksum,
    envelopeHeaders,
  };
}

/** Headers that the store needs on every request for an object. */
export function accessHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const access: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers))
    if (typeof value === 'string' && accessNames.test(name)) access[name] = value;
  return access;
}

const single = (value: string | string[] | undefined) => (Array.isArray(value) ? value[0] : value);

function readPartNumber(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const number = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (number >= 1 && number <= 10_000) return number;
  throw s3Error('InvalidArgument', 'Part number must be an integer between 1 and 10000, inclusive.', {
    details: { ArgumentName: 'partNumber', ArgumentValue: text.slice(0, 20) },
  });
}

const overridable =
  /^response-(content-type|content-language|expires|cache-control|content-disposition|content-encoding)$/;

/**
 * `response-*` parameters as headers. Stores apply them to a GET, but not all do to a HEAD.
 * @throws S3Error InvalidArgument
 */
function overridesIn(query: Iterable<readonly [string, string]>): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of query) {
    const header = overridable.exec(name)?.[1];
    if (header === undefined) continue;
    if (/[^\t\x20-\x7e\x80-\xff]/.test(value))
      throw s3Error('InvalidArgument', `${name} holds characters that a header cannot`);
    headers[header] = value;
  }
  return headers;
}

/** The slice of an object's plaintext that answers a request. */
export type Slice =
  | 'whole'
  | 'unsatisfied'
  | { readonly range: ByteRange; readonly headers: Readonly<Record<string, string>> };

/** @throws S3Error 416 for a part number that the object does not have */
export function chooseSlice(object: StoredObject, layout: ObjectLayout, request: ReadRequest): Slice {
  if (request.partNumber !== undefined) return partSlice(layout, request.partNumber, request.checksum);
  if (request.range === undefined || !rangeHolds(object, request.ifRange)) return 'whole';
  const range = resolveRange(request.range, layout.size);
  if (range === 'whole') return range;
  return range === undefined ? 'unsatisfied' : { range, headers: {} };
}

/** Parts are counted in order, whatever their upload numbers. An empty part is not a range. */
function partSlice({ size, list }: ObjectLayout, number: number, checksum: boolean): Slice {
  const sizes = list?.parts.map((part) => part.size) ?? [size];
  const length = sizes[number - 1];
  if (length === undefined) throw s3Error('InvalidPartNumber');
  if (length === 0) return size === 0 ? 'whole' : 'unsatisfied';
  const start = sizes.slice(0, number - 1).reduce((sum, part) => sum + part, 0);
  const headers = {
    ...(list !== undefined && { 'x-amz-mp-parts-count': String(sizes.length) }),
    ...(checksum && list?.ofParts !== undefined && partChecksumHeader(list.ofParts, number - 1)),
  };
  return { range: { start, end: start + length - 1 }, headers };
}

const partChecksumHeader = (ofParts: PartChecksums, index: number): Record<string, string> => ({
  [`x-amz-checksum-${ofParts.algorithm}`]: partChecksum(ofParts, index).toString('base64'),
});

/** RFC 9110, 13.1.5: a strong ETag or the exact date must match; otherwise the whole object is sent. */
function rangeHolds({ etag, headers }: StoredObject, ifRange: string | undefined): boolean {
  if (ifRange === undefined || ifRange === headers['last-modified']) return true;
  return unquote(inward(ifRange)) === unquote(etag);
}

type AnswerHeaders = Record<string, string>;

/** Response headers for the whole plaintext. */
export const wholeHeaders = (
  object: StoredObject,
  size: number,
  { overrides, envelopeHeaders }: ReadRequest,
): AnswerHeaders => ({
  ...(envelopeHeaders === 'hidden'
    ? withoutEnvelope(responseHeadersDownstream(object.headers))
    : responseHeadersDownstream(object.headers)),
  ...overrides,
  'accept-ranges': 'bytes',
  'content-length': String(size),
});

/** Response headers for a range of the plaintext. */
export const rangeHeaders = (
  object: StoredObject,
  size: number,
  range: ByteRange,
  request: ReadRequest,
): AnswerHeaders => ({
  ...wholeHeaders(object, range.end - range.start + 1, request),
  'content-range': contentRange(range, size),
});
