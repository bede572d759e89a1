import type { IncomingHttpHeaders } from 'node:http';
import { isReservedMetadata } from '../envelope/metadata.ts';
import { inwardConditions } from './conditional.ts';
import { outward } from './etag.ts';

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

/**
 * A caller's headers for the store: conditions with the store's ETags, descriptions and `x-amz-*`, without the
 * caller's signature, framing, checksums, copy source and svc metadata.
 */
export function requestHeadersUpstream(headers: IncomingHttpHeaders): Record<string, string> {
  const upstream: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string' && (forwarded.has(name) || isForwarded(name))) upstream[name] = value;
  }
  for (const [name, value] of Object.entries(inwardConditions(headers))) {
    if (!name.startsWith(copyConditions) && name !== 'if-range') upstream[name] = value;
  }
  const encoding = withoutAwsChunked(headers['content-encoding']);
  if (encoding !== undefined) upstream['content-encoding'] = encoding;
  return upstream;
}

function isForwarded(name: string): boolean {
  if (!name.startsWith('x-amz-') || isReservedMetadata(name) || ofPlaintext.test(name)) return false;
  return !replaced.has(name) && !name.startsWith(copyConditions);
}

/** `aws-chunked` frames the request; every other coding is the object's. */
export function withoutAwsChunked(encoding: string | undefined): string | undefined {
  const codings = (encoding ?? '').split(',').map((coding) => coding.trim());
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

/** The store's answer as it is for what is not encrypted; its ETag as callers see it. */
export function passedResponseHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  return answerHeaders(headers, () => true);
}

function answerHeaders(
  headers: IncomingHttpHeaders,
  wanted: (name: string) => boolean,
): Record<string, string> {
  const answer: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !hopByHop.has(name) && wanted(name)) answer[name] = String(value);
  }
  if (answer['etag'] !== undefined) answer['etag'] = outward(answer['etag']);
  return answer;
}
