import type { IncomingHttpHeaders } from 'node:http';
import { type S3Error, s3Error } from './error.ts';

/** A caller's S3 request with its parsed target; immutable. */
export interface S3Request {
  readonly id: string;
  readonly method: string;
  /** Empty for the service itself (ListBuckets). */
  readonly bucket: string;
  /** Decoded from the path; empty for the bucket itself. */
  readonly key: string;
  /** Path and query exactly as on the request line, which signatures cover. */
  readonly rawPath: string;
  readonly rawQuery: string;
  /** Decoded, in order, without the signature parameters of presigned requests. */
  readonly query: Query;
  readonly headers: IncomingHttpHeaders;
}

/** Query parameters in order; names may repeat. */
export interface Query {
  readonly entries: readonly (readonly [name: string, value: string])[];
  /** First value; undefined if the name is absent ("?acl" gives ""). */
  get(name: string): string | undefined;
  has(name: string): boolean;
}

export interface RequestTarget {
  readonly bucket: string;
  readonly key: string;
  readonly rawPath: string;
  readonly rawQuery: string;
  /** Without signature parameters and `hoisted`. */
  readonly query: Query;
  /** `x-amz-*` parameters without digests, in lower case: presigned URLs carry headers in the query. */
  readonly hoisted: Readonly<Record<string, string>>;
}

const maxKeyBytes = 1024;
const bucketName = /^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$/;
const signatureParameters = new Set([
  'x-amz-algorithm',
  'x-amz-credential',
  'x-amz-date',
  'x-amz-expires',
  'x-amz-signedheaders',
  'x-amz-signature',
  'x-amz-security-token',
  'x-amz-content-sha256',
]);
/**
 * Parameters of URLs signed with version 2, which boto3 and s3cmd still generate; a store rejects them beside its own.
 */
const version2Parameters = new Set(['AWSAccessKeyId', 'Expires', 'Signature']);
/**
 * The SDK for JavaScript presigns a checksum for a body that it does not have yet, so stores ignore digests in a query.
 * Digests in headers are checked.
 */
const presignedDigest = /^x-amz-(?:sdk-checksum-algorithm$|checksum-(?!(?:algorithm|mode|type)$))/;

/**
 * Parses the target of a request line, in path style or, for `<bucket>.localhost[:port]`, in virtual-host style. The
 * bucket depends on `host` alone, which signatures cover; an absolute-form target must name the same host. Empty
 * segments are kept; `.` and `..` are rejected, because a store might resolve them to another object.
 * @throws S3Error InvalidURI, InvalidBucketName, KeyTooLongError, InvalidRequest
 */
export function parseTarget(requestTarget: string, host: string | undefined): RequestTarget {
  const rest = originForm(requestTarget, host);
  const mark = rest.indexOf('?');
  const rawPath = mark < 0 ? rest : rest.slice(0, mark);
  const rawQuery = mark < 0 ? '' : rest.slice(mark + 1);
  if (!rawPath.startsWith('/') || rest.includes('#')) throw s3Error('InvalidURI');
  const { query, hoisted } = splitQuery(rawQuery);
  const hostBucket = host === undefined ? undefined : virtualHostBucket(hostName(host));
  return { ...splitPath(rawPath, hostBucket), rawPath, rawQuery, query, hoisted };
}

/** A client that talks as to a forward proxy repeats its `Host` in the request line, character for character. */
function originForm(requestTarget: string, host: string | undefined): string {
  const absolute = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)(.*)$/i.exec(requestTarget);
  if (!absolute) return requestTarget;
  const [, scheme = '', authority, rest = ''] = absolute;
  if (scheme.toLowerCase() !== 'http' || authority !== host) {
    throw s3Error('InvalidRequest', 'The request line names another host than the Host header.');
  }
  return rest.startsWith('/') ? rest : `/${rest}`;
}

function splitPath(rawPath: string, hostBucket: string | undefined): { bucket: string; key: string } {
  if (hostBucket !== undefined) return { bucket: checkBucket(hostBucket), key: decodeKey(rawPath.slice(1)) };
  const slash = rawPath.indexOf('/', 1);
  const bucket = decodeStrict(slash < 0 ? rawPath.slice(1) : rawPath.slice(1, slash));
  if (bucket === '' && slash < 0) return { bucket: '', key: '' };
  return { bucket: checkBucket(bucket), key: slash < 0 ? '' : decodeKey(rawPath.slice(slash + 1)) };
}

function checkBucket(bucket: string): string {
  if (!bucketName.test(bucket)) throw s3Error('InvalidBucketName');
  return bucket;
}

function decodeKey(raw: string): string {
  const key = decodeStrict(raw);
  checkKey(key);
  return key;
}

/** @throws S3Error KeyTooLongError above 1,024 bytes; InvalidURI for a `.` or `..` segment or NUL */
export function checkKey(key: string): void {
  refuseLongKey(key);
  if (hasDotSegment(key))
    throw s3Error('InvalidURI', 'Keys with the path segments "." or ".." are not served.');
  if (key.includes('\0')) throw s3Error('InvalidURI');
}

/** @throws S3Error KeyTooLongError above 1,024 bytes */
export function refuseLongKey(key: string): void {
  if (key.length * 3 > maxKeyBytes && Buffer.byteLength(key) > maxKeyBytes) throw s3Error('KeyTooLongError');
}

const hasDotSegment = (key: string): boolean =>
  key.includes('.') && key.split('/').some((segment) => segment === '.' || segment === '..');

function splitQuery(rawQuery: string): { query: Query; hoisted: Record<string, string> } {
  const plain: (readonly [string, string])[] = [];
  const hoisted: Record<string, string> = {};
  const entries = parseQueryEntries(rawQuery);
  const version2 = entries.some(([name]) => name === 'AWSAccessKeyId');
  for (const [name, value] of entries) {
    if (version2 && version2Parameters.has(name)) continue;
    const lower = name.toLowerCase();
    if (!lower.startsWith('x-amz-')) plain.push([name, value]);
    else if (!signatureParameters.has(lower) && !presignedDigest.test(lower)) hoist(hoisted, lower, value);
  }
  return { query: queryOf(plain), hoisted };
}

function hoist(hoisted: Record<string, string>, name: string, value: string): void {
  if (name in hoisted || !/^[a-z0-9-]+$/.test(name) || !/^[\x20-\x7e]*$/.test(value)) {
    throw s3Error('InvalidRequest', 'A header in the query string is repeated or malformed.');
  }
  hoisted[name] = value;
}

/** Merges headers from the query string. @throws S3Error InvalidRequest if both name a header with different values */
export function mergeHoisted(
  headers: IncomingHttpHeaders,
  hoisted: Readonly<Record<string, string>>,
): IncomingHttpHeaders {
  const names = Object.keys(hoisted);
  if (names.length === 0) return headers;
  if (names.some((name) => headers[name] !== undefined && headers[name] !== hoisted[name])) {
    throw s3Error('InvalidRequest', 'A header and a query parameter of the same name differ.');
  }
  return { ...headers, ...hoisted };
}

/** Encoded path-style path: `/bucket/key`. */
export function upstreamPath(bucket: string, key: string): string {
  if (bucket === '') return '/';
  return key === '' ? `/${bucket}` : `/${bucket}/${encodeKey(key)}`;
}

/** `uri-host [":" port]` without user information; names may contain the characters of bucket names. */
const form = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?$/;
const underLocalhost = /^(.+)\.localhost$/i;

/**
 * The name or address in a `Host` header, without port and trailing dot; IPv6 in brackets.
 * @throws S3Error InvalidRequest for values that servers could interpret differently
 */
export function hostName(host: string): string {
  const name = form.exec(host)?.[1];
  if (name === undefined)
    throw s3Error('InvalidRequest', 'The Host header is not a host with an optional port.');
  return name.endsWith('.') ? name.slice(0, -1) : name;
}

/** The bucket in a host name such as `bucket.localhost`; undefined for all other hosts. */
const virtualHostBucket = (name: string): string | undefined => underLocalhost.exec(name)?.[1];

type Entry = readonly [name: string, value: string];

/** S3 itself knows fewer than 20 at a time. */
const maxParameters = 64;

/**
 * Decoded parameters of a raw query, in order; `+` is a space, as in S3.
 * @throws S3Error InvalidURI, InvalidRequest for more than 64
 */
export function parseQueryEntries(raw: string): Entry[] {
  if (raw === '') return [];
  if (hasMore(raw, '&', maxParameters - 1))
    throw s3Error('InvalidRequest', `The query has more than ${maxParameters} parameters.`);
  return raw
    .split('&')
    .filter((pair) => pair !== '')
    .map(parsePair);
}

/** Whether a text has more than `max` of a separator; made nothing of. */
export function hasMore(text: string, separator: string, max: number): boolean {
  let count = 0;
  for (let at = text.indexOf(separator); at >= 0 && count <= max; at = text.indexOf(separator, at + 1))
    count++;
  return count > max;
}

function parsePair(pair: string): Entry {
  const equals = pair.indexOf('=');
  if (equals < 0) return [decodeValue(pair), ''];
  return [decodeValue(pair.slice(0, equals)), decodeValue(pair.slice(equals + 1))];
}

function decodeValue(text: string): string {
  return decodeStrict(text.includes('+') ? text.replaceAll('+', '%20') : text);
}

export function queryOf(entries: readonly Entry[]): Query {
  return {
    entries,
    get: (name) => entries.find(([candidate]) => candidate === name)?.[1],
    has: (name) => entries.some(([candidate]) => candidate === name),
  };
}

/** A query string in the given order, encoded as in SigV4; a parameter without value is written `acl=`. */
export function serializeQuery(entries: Iterable<Entry>): string {
  return Array.from(entries, ([name, value]) => `${encodeComponent(name)}=${encodeComponent(value)}`).join(
    '&',
  );
}

const printableAscii = /^[\x21-\x7e]*$/;
const badEscape = /%(?![0-9A-Fa-f]{2})/;
const reservedByUs = /[!'()*]/g;

/**
 * Percent-decodes one component, where `+` is literal.
 * @throws S3Error InvalidURI for raw characters outside printable ASCII, invalid escapes, invalid UTF-8 and NUL
 */
function decodeStrict(text: string): string {
  if (!printableAscii.test(text)) throw s3Error('InvalidURI');
  if (!text.includes('%')) return text;
  if (badEscape.test(text)) throw s3Error('InvalidURI');
  const decoded = decodeUtf8(text);
  if (decoded.includes('\0')) throw s3Error('InvalidURI');
  return decoded;
}

function decodeUtf8(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw s3Error('InvalidURI', undefined, { cause });
  }
}

/**
 * SigV4's URI encoding of one component: everything except `A-Z a-z 0-9 - . _ ~` is escaped, with upper-case digits.
 */
export function encodeComponent(text: string): string {
  return encodeURIComponent(text).replace(reservedByUs, (character) => `%${hexByte(character)}`);
}

const hexByte = (character: string): string => character.charCodeAt(0).toString(16).toUpperCase();

const unreservedKey = /^[A-Za-z0-9\-._~/]*$/;

/** The encoding for a key: `/` is kept. */
export function encodeKey(key: string): string {
  if (unreservedKey.test(key)) return key;
  return encodeComponent(key).replaceAll('%2F', '/');
}

export interface CopySource {
  bucket: string;
  key: string;
  versionId?: string;
}

/** A bucket name must not look like an IPv4 address. */
const address = /^\d{1,3}(?:\.\d{1,3}){3}$/;
const versionMark = '?versionId=';

/**
 * Parses `x-amz-copy-source` like S3: `bucket/key` with or without a leading slash, percent-encoded, possibly including
 * separators, with `+` for a space, then an optional literal `?versionId=`; if encoded, that is part of the key.
 * @throws S3Error InvalidArgument, KeyTooLongError
 */
export function parseCopySource(header: string): CopySource {
  const mark = header.indexOf(versionMark);
  const path = decodeSource(mark < 0 ? header : header.slice(0, mark)).replace(/^\//, '');
  const slash = path.indexOf('/');
  const [bucket, key] = slash < 0 ? [path, ''] : [path.slice(0, slash), path.slice(slash + 1)];
  if (!bucketName.test(bucket) || address.test(bucket))
    throw invalidSource('bucket name', header.replace(/^\//, ''));
  if (key === '' || hasDotSegment(key)) throw invalidSource('object key', key);
  checkKey(key);
  const versionId = mark < 0 ? '' : decodeSource(header.slice(mark + versionMark.length));
  return versionId === '' ? { bucket, key } : { bucket, key, versionId };
}

/** The value of `x-amz-copy-source` for the store. */
export function copySourceHeader({ bucket, key, versionId }: CopySource): string {
  const path = `/${bucket}/${encodeKey(key)}`;
  return versionId === undefined ? path : `${path}?versionId=${encodeComponent(versionId)}`;
}

/** Clients leave spaces and non-ASCII characters unencoded. Header values are byte strings. */
const unencoded = /[\x20\x80-\xff]/g;

function decodeSource(text: string): string {
  const encoded = text.replaceAll('+', '%20').replace(unencoded, (byte) => `%${hexByte(byte)}`);
  try {
    return decodeStrict(encoded);
  } catch (cause) {
    throw invalidSource('encoding', text, cause);
  }
}

/**
 * @param what `bucket name`, `object key` or `encoding`
 * @param value as sent by the caller
 */
export const invalidSource = (what: string, value: string, cause?: unknown): S3Error =>
  s3Error('InvalidArgument', `Invalid copy source ${what}`, {
    details: { ArgumentName: 'x-amz-copy-source', ArgumentValue: value },
    cause,
  });
