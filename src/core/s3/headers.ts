import type { IncomingHttpHeaders } from 'node:http';
import { isReservedMetadata } from '../envelope/metadata.ts';
import { s3Error } from './error.ts';

/**
 * A repeated header as stores and SigV4 read it: the values in order with a comma between them, and nothing else,
 * where `node:http` puts a blank behind it. What signatures are checked over is then what the store gets.
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

/** Beside `x-amz-*` and conditions: what describes an object, and CORS. Range is the handler's matter. */
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

/** Of the caller's own signature and framing, of plaintext, or the handler's to set. */
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

/** `requestHeadersUpstream` of a request that writes an object, with the metadata that it is to have. */
export const writeHeadersUpstream = (headers: IncomingHttpHeaders): Record<string, string> => ({
  ...requestHeadersUpstream(headers),
  ...userMetadata(headers),
});

/**
 * A caller's headers for the store: conditions with the store's ETags, descriptions and `x-amz-*`, without the
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

/** `aws-chunked` frames the request; every other coding is the object's. */
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

/** The store's answer without what is of ciphertext, lengths and checksums; its ETag as callers see it. */
export function responseHeadersDownstream(headers: IncomingHttpHeaders): Record<string, string> {
  return answerHeaders(headers, (name) => !ofStoredBody.test(name));
}

/** What an answer says without the metadata that svc keeps beside the caller's. */
export const withoutEnvelope = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !isReservedMetadata(name))
      .map(([name, value]) => [name, name === exposed ? withoutReserved(value) : value]),
  );

/** Stores list all metadata of an object among the headers that pages may read. */
const exposed = 'access-control-expose-headers';
const withoutReserved = (names: string): string =>
  names
    .split(/\s*,\s*/)
    .filter((name) => !isReservedMetadata(name.toLowerCase()))
    .join(', ');

/** The store's answer as it is for what is not encrypted; its ETag as callers see it. */
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

/** The conditional headers of a request, ETags in the store's own form. */
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
 * The store's ETag as callers see it: 32 hexadecimal digits get the suffix `-svc`, because clients take a bare one
 * for the MD5 of what they sent. Quotes stay as they are; every other ETag is returned untouched.
 */
export function outward(etag: string): string {
  return replace(etag, stored, '-svc');
}

/** The caller's ETag as the store knows it: the reverse of `outward`. */
export function inward(etag: string): string {
  return replace(etag, shown, '');
}

function replace(etag: string, pattern: RegExp, suffix: string): string {
  const match = pattern.exec(etag);
  if (!match || match[1] !== match[3]) return etag;
  return `${match[1]}${match[2]}${suffix}${match[3]}`;
}

const inList = /(^|[\s,"/])([0-9a-fA-F]{32})-svc(?=$|[\s,"])/g;

/** `inward` for each ETag of an If-Match or If-None-Match list; `W/` and `*` stay as they are. */
export function inwardList(header: string): string {
  return header.replace(inList, '$1$2');
}

/** Without the surrounding quotes, as Complete lists and listings are compared. */
export function unquote(etag: string): string {
  return etag.length >= 2 && etag.startsWith('"') && etag.endsWith('"') ? etag.slice(1, -1) : etag;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

const userPrefix = 'x-amz-meta-';

/** Bytes of user metadata that S3 takes. */
export const maxUserMetadata = 2048;

/** User metadata as S3 counts it: bytes of names without `x-amz-meta-`, and of values. Header values are byte strings. */
export function userMetadataSize(headers: Headers): number {
  let size = 0;
  for (const name in headers) {
    const value = headers[name];
    if (name.startsWith(userPrefix) && value !== undefined)
      size += name.length - userPrefix.length + String(value).length;
  }
  return size;
}

/** The same as MinIO counts it, with the names whole. */
export const strictMetadataSize = (headers: Headers): number =>
  userMetadataSize(headers) +
  userPrefix.length * Object.keys(headers).filter((name) => name.startsWith(userPrefix)).length;

/**
 * Sizes in the error are of the caller's own metadata, and of the room that ours leaves: of that alone a caller can
 * leave something out. @throws S3Error MetadataTooLarge
 */
export function checkUserMetadata(headers: Headers): void {
  const size = userMetadataSize(headers);
  if (size <= maxUserMetadata) return;
  const own = userMetadataSize(userMetadata(headers));
  throw s3Error('MetadataTooLarge', undefined, {
    details: { Size: String(own), MaxSizeAllowed: String(maxUserMetadata - (size - own)) },
  });
}

/** The caller's own metadata: what a caller puts under the name of ours is left out. */
export function userMetadata(headers: Headers): Record<string, string> {
  const own: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (name.startsWith(userPrefix) && !isReservedMetadata(name) && value !== undefined)
      own[name] = String(value);
  }
  return own;
}

/** Headers by which the writer of an object says how readers are to treat it. */
export const descriptionHeaders: readonly string[] = [
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-type',
  'expires',
];

const kept = [...descriptionHeaders, 'x-amz-website-redirect-location'];

/** What HEAD says of an object and a copy with `REPLACE` must repeat; the svc headers and the storage class are left out. */
export function storedHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value !== 'string') continue;
    const own = name.startsWith('x-amz-meta-') && !isReservedMetadata(name);
    if (own || kept.includes(name)) result[name] = value;
  }
  return result;
}

/** Under this name rclone keeps the MD5 of an object whose ETag is none, and looks for it. */
export const md5Metadata = 'x-amz-meta-md5chksum';

/** The MD5 of a plaintext that its writer names. */
export interface NamedMd5 {
  /** Mostly base64 of 16 bytes; metadata have it in the caller's spelling. */
  readonly md5: string;
  /** `metadata`: it is the caller's own metadata, which must not get lost. */
  readonly from: 'metadata' | 'content-md5';
}

/**
 * Takes the MD5 out of what goes to the store in the clear: with it, whoever has the store can tell which of the files that
 * they know an object is.
 * @param forwarded the caller's headers for the store
 * @param all the caller's headers; Content-MD5 counts where the metadata name none
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
