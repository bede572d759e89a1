import type { IncomingHttpHeaders } from 'node:http';
import { s3Error } from './error-catalog.ts';
import { hostName, virtualHostBucket } from './host.ts';
import { parseQueryEntries, queryOf } from './query.ts';
import type { Query } from './request.ts';
import { decodeStrict, encodeKey } from './uri.ts';

export interface Target {
  readonly bucket: string;
  readonly key: string;
  readonly rawPath: string;
  readonly rawQuery: string;
  /** Without signature parameters and without `hoisted`. */
  readonly query: Query;
  /** `x-amz-*` parameters without digests, lower case: presigned URLs carry headers in the query. */
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
/** Of URLs signed the old way, which boto3 and s3cmd still make; a store does not take them beside its own. */
const version2Parameters = new Set(['AWSAccessKeyId', 'Expires', 'Signature']);
/**
 * The SDK for JavaScript presigns the checksum of a body that it has not got, so that stores do not read
 * digests in a query. Those in headers are checked.
 */
const presignedDigest = /^x-amz-(?:sdk-checksum-algorithm$|checksum-(?!(?:algorithm|mode|type)$))/;

/**
 * Parses a request line's target, path style or, for `<bucket>.localhost[:port]`, virtual-host style.
 * The bucket comes from `host` alone, which is what signatures are over: an absolute form has to name the same one.
 * Empty segments are kept; `.` and `..` are refused, since a store may resolve them to another object.
 * @throws S3Error InvalidURI, InvalidBucketName, KeyTooLongError, InvalidRequest
 */
export function parseTarget(requestTarget: string, host: string | undefined): Target {
  const rest = originForm(requestTarget, host);
  const mark = rest.indexOf('?');
  const rawPath = mark < 0 ? rest : rest.slice(0, mark);
  const rawQuery = mark < 0 ? '' : rest.slice(mark + 1);
  if (!rawPath.startsWith('/') || rest.includes('#')) throw s3Error('InvalidURI');
  const { query, hoisted } = splitQuery(rawQuery);
  const hostBucket = host === undefined ? undefined : virtualHostBucket(hostName(host));
  return { ...splitPath(rawPath, hostBucket), rawPath, rawQuery, query, hoisted };
}

/** A client that speaks as to a forward proxy repeats its `Host` in the request line, letter for letter. */
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
  if (key.length * 3 > maxKeyBytes && Buffer.byteLength(key) > maxKeyBytes) throw s3Error('KeyTooLongError');
  if (key.includes('.') && key.split('/').some((segment) => segment === '.' || segment === '..')) {
    throw s3Error('InvalidURI', 'Keys with the path segments "." or ".." are not served.');
  }
  if (key.includes('\0')) throw s3Error('InvalidURI');
}

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

/** Headers with those from the query string. @throws S3Error InvalidRequest when both name one and differ */
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

/** Path-style, encoded: `/bucket/key`. */
export function upstreamPath(bucket: string, key: string): string {
  if (bucket === '') return '/';
  return key === '' ? `/${bucket}` : `/${bucket}/${encodeKey(key)}`;
}
