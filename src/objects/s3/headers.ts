import type { IncomingHttpHeaders } from 'node:http';
import { isReservedMetadata } from '../format/metadata.ts';
import { s3Error } from './error.ts';

/**
 * Joins a repeated header as stores and SigV4 do: values in order, separated by a comma without the blank that
 * `node:http` adds. So signatures are verified over exactly what the store receives.
 */
export function joinRepeated(
  headers: IncomingHttpHeaders,
  rawHeaders: readonly string[],
): IncomingHttpHeaders {
  if (rawHeaders.length === 2 * Object.keys(headers).length) return headers;
  const lines = new Map<string, string[]>();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] as string).toLowerCase();
    const values = lines.get(name);
    if (values === undefined) lines.set(name, [rawHeaders[at + 1] as string]);
    else values.push(rawHeaders[at + 1] as string);
  }
  const joined = { ...headers };
  for (const [name, values] of lines)
    if (values.length > 1 && headers[name] === values.join(', ')) joined[name] = values.join(',');
  return joined;
}

/** Forwarded besides `x-amz-*` and conditions: headers that describe an object, and CORS. Handlers deal with Range. */
const forwarded = new Set([
  'access-control-request-headers',
  'access-control-request-method',
  'cache-control',
  'content-disposition',
  'content-language',
  'content-type',
  'expires',
  'origin',
]);

/**
 * Not forwarded: headers of the caller's own signature and framing, headers about the plaintext, and headers that
 * handlers set.
 */
const replaced = new Set([
  'x-amz-content-sha256',
  'x-amz-copy-source',
  'x-amz-date',
  'x-amz-decoded-content-length',
  'x-amz-mp-object-size',
  'x-amz-rename-source',
  'x-amz-security-token',
  'x-amz-trailer',
  'x-amz-write-offset-bytes',
]);
const ofPlaintext = /^x-amz-(?:checksum-|sdk-checksum-algorithm$)/;
const copyConditions = 'x-amz-copy-source-';

/** `requestHeadersUpstream` for a request that writes an object, including the caller's metadata. */
export const writeHeadersUpstream = (headers: IncomingHttpHeaders): Record<string, string> => ({
  ...requestHeadersUpstream(headers),
  ...userMetadata(headers),
});

/**
 * The caller's headers for the store: conditions with the store's ETags, content headers and `x-amz-*`, without the
 * caller's signature, framing, checksums, copy source and metadata.
 */
export function requestHeadersUpstream(headers: IncomingHttpHeaders): Record<string, string> {
  const upstream: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (typeof value === 'string' && (forwarded.has(name) || isForwarded(name))) upstream[name] = value;
  }
  const conditions = inwardConditions(headers);
  for (const name in conditions) {
    if (!name.startsWith(copyConditions) && name !== 'if-range') upstream[name] = conditions[name] as string;
  }
  const encoding = withoutAwsChunked(headers['content-encoding']);
  if (encoding !== undefined) upstream['content-encoding'] = encoding;
  return upstream;
}

function isForwarded(name: string): boolean {
  if (!name.startsWith('x-amz-') || name.startsWith(userPrefix) || ofPlaintext.test(name)) return false;
  return !replaced.has(name) && !name.startsWith(copyConditions);
}

/** `aws-chunked` is the request's framing; all other codings belong to the object. */
export function withoutAwsChunked(encoding: string | undefined): string | undefined {
  if (encoding === undefined) return undefined;
  const codings = encoding.split(',').map((coding) => coding.trim());
  const kept = codings.filter((coding) => coding !== '' && coding.toLowerCase() !== 'aws-chunked');
  return kept.length === 0 ? undefined : kept.join(',');
}

const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
const ofStoredBody = /^(?:x-amz-checksum-|content-(?:length|range|md5)$)/;

/** The store's response headers without lengths and checksums of the ciphertext; the ETag as callers see it. */
export function responseHeadersDownstream(headers: IncomingHttpHeaders): Record<string, string> {
  return answerHeaders(headers, (name) => !ofStoredBody.test(name));
}

/** Response headers without the metadata that svc keeps beside the caller's. */
export const withoutEnvelope = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !isReservedMetadata(name))
      .map(([name, value]) => [name, name === exposed ? withoutReserved(value) : value]),
  );

/** Stores list all metadata of an object among the headers that web pages may read. */
const exposed = 'access-control-expose-headers';
const withoutReserved = (names: string): string =>
  names
    .split(/\s*,\s*/)
    .filter((name) => !isReservedMetadata(name.toLowerCase()))
    .join(', ');

/**
 * The store's response headers for unencrypted content, unchanged except for the ETag, which is converted for callers.
 */
export function passedResponseHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  return answerHeaders(headers, () => true);
}

function answerHeaders(
  headers: IncomingHttpHeaders,
  wanted: (name: string) => boolean,
): Record<string, string> {
  const answer: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined && !hopByHop.has(name) && wanted(name)) answer[name] = String(value);
  }
  if (answer['etag'] !== undefined) answer['etag'] = outward(answer['etag']);
  return answer;
}

const etagConditions = [
  'if-match',
  'if-none-match',
  'if-range',
  'x-amz-copy-source-if-match',
  'x-amz-copy-source-if-none-match',
] as const;
const timeConditions = [
  'if-modified-since',
  'if-unmodified-since',
  'x-amz-copy-source-if-modified-since',
  'x-amz-copy-source-if-unmodified-since',
  'x-amz-if-match-last-modified-time',
] as const;

/** The conditional headers of a request, with the store's ETags. */
export function inwardConditions(headers: IncomingHttpHeaders): Record<string, string> {
  const conditions: Record<string, string> = {};
  for (const name of etagConditions) {
    const value = headers[name];
    if (typeof value === 'string') conditions[name] = inwardList(value);
  }
  for (const name of timeConditions) {
    const value = headers[name];
    if (typeof value === 'string') conditions[name] = value;
  }
  return conditions;
}

const stored = /^("?)([0-9a-fA-F]{32})("?)$/;
const shown = /^("?)([0-9a-fA-F]{32})-svc("?)$/;

/**
 * The store's ETag as callers see it: 32 hexadecimal digits get the suffix `-svc`, because clients would take them for
 * the MD5 of the content. Quotes are kept; other ETags stay unchanged.
 */
export function outward(etag: string): string {
  return replace(etag, stored, '-svc');
}

/** Converts a caller's ETag to the store's: the reverse of `outward`. */
export function inward(etag: string): string {
  return replace(etag, shown, '');
}

function replace(etag: string, pattern: RegExp, suffix: string): string {
  const match = pattern.exec(etag);
  if (!match || match[1] !== match[3]) return etag;
  return `${match[1]}${match[2]}${suffix}${match[3]}`;
}

const inList = /(^|[\s,"/])([0-9a-fA-F]{32})-svc(?=$|[\s,"])/g;

/** `inward` for each ETag of an If-Match or If-None-Match list; `W/` and `*` are kept. */
export function inwardList(header: string): string {
  return header.replace(inList, '$1$2');
}

/** Without surrounding quotes, for Complete and for comparing listings. */
export function unquote(etag: string): string {
  return etag.length >= 2 && etag.startsWith('"') && etag.endsWith('"') ? etag.slice(1, -1) : etag;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

const userPrefix = 'x-amz-meta-';

/** S3's limit on user metadata in bytes. */
export const maxUserMetadata = 2048;

/**
 * Size of user metadata as S3 counts it: bytes of values and of names without `x-amz-meta-`. Header values are byte
 * strings.
 */
export function userMetadataSize(headers: Headers): number {
  let size = 0;
  for (const name in headers) {
    const value = headers[name];
    if (name.startsWith(userPrefix) && value !== undefined)
      size += name.length - userPrefix.length + String(value).length;
  }
  return size;
}

/** Size as MinIO counts it, with complete names. */
export const strictMetadataSize = (headers: Headers): number =>
  userMetadataSize(headers) +
  userPrefix.length * Object.keys(headers).filter((name) => name.startsWith(userPrefix)).length;

/**
 * The error states the size of the caller's own metadata, and the room that svc's leave, because callers can only
 * reduce their own.
 * @throws S3Error MetadataTooLarge
 */
export function checkUserMetadata(headers: Headers): void {
  const size = userMetadataSize(headers);
  if (size <= maxUserMetadata) return;
  const own = userMetadataSize(userMetadata(headers));
  throw s3Error('MetadataTooLarge', undefined, {
    details: { Size: String(own), MaxSizeAllowed: String(maxUserMetadata - (size - own)) },
  });
}

/** The caller's own metadata, without names that are reserved for svc. */
export function userMetadata(headers: Headers): Record<string, string> {
  const own: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (name.startsWith(userPrefix) && !isReservedMetadata(name) && value !== undefined)
      own[name] = String(value);
  }
  return own;
}

/** Headers by which an object's writer tells readers how to treat it. */
export const descriptionHeaders: readonly string[] = [
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-type',
  'expires',
];

const kept = [...descriptionHeaders, 'x-amz-website-redirect-location'];

/** Headers of a HEAD response that a copy with `REPLACE` must repeat; without svc headers and storage class. */
export function storedHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value !== 'string') continue;
    const own = name.startsWith('x-amz-meta-') && !isReservedMetadata(name);
    if (own || kept.includes(name)) result[name] = value;
  }
  return result;
}

/** rclone keeps and looks for the MD5 of an object under this name if the ETag is not an MD5. */
export const md5Metadata = 'x-amz-meta-md5chksum';

/** The MD5 of a plaintext as named by its writer. */
export interface NamedMd5 {
  /** Usually base64 of 16 bytes; in metadata, spelled as by the caller. */
  readonly md5: string;
  /** `metadata`: part of the caller's own metadata, which must be kept. */
  readonly from: 'metadata' | 'content-md5';
}

/**
 * Removes the MD5 from the headers that the store sees in the clear, because it would reveal which of a set of known
 * files an object is.
 * @param forwarded the caller's headers for the store
 * @param all the caller's headers; Content-MD5 counts if the metadata name none
 */
export function takeNamedMd5(
  forwarded: Readonly<Record<string, string>>,
  all: IncomingHttpHeaders,
): { readonly headers: Readonly<Record<string, string>>; readonly named: NamedMd5 | undefined } {
  const { [md5Metadata]: own, ...headers } = forwarded;
  if (own) return { headers, named: { md5: own, from: 'metadata' } };
  const md5 = all['content-md5'];
  return { headers: forwarded, named: typeof md5 === 'string' ? { md5, from: 'content-md5' } : undefined };
}
