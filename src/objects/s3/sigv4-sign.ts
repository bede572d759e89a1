import { createHmac, createSecretKey, hash, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { BoundedMap } from '../../runtime/bounds/bounded-map.ts';
import { type S3Error, s3Error } from './error.ts';
import { encodeComponent, encodeKey } from './request.ts';

export interface SigningCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

export interface UnsignedRequest {
  readonly method: string;
  /** Percent-encoded as by `upstreamPath`; used unchanged on the request line. */
  readonly path: string;
  /** Without `?`; used unchanged on the request line. */
  readonly query: string;
  /** Lower-case names; `host` is required. */
  readonly headers: Readonly<Record<string, string>>;
  /** `x-amz-content-sha256`: a SHA-256 in hexadecimal, UNSIGNED-PAYLOAD or STREAMING-…. */
  readonly payload: string;
}

export interface SignedHead {
  /** All headers to send. */
  readonly headers: Record<string, string>;
  /** State from which chunk signatures continue. */
  readonly chunks: ChunkSigningContext;
}

/** Headers that connections and intermediaries change, or that stores treat specially. */
const neverSigned = new Set([
  'accept',
  'accept-encoding',
  'authorization',
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
]);

const maxKeys = 64;

/** Caches keys by access key and scope, so that a request takes one HMAC instead of five. */
export class SigningKeyCache {
  readonly #keys = new BoundedMap<string, { secretAccessKey: string; key: KeyObject }>(maxKeys);

  get(accessKeyId: string, secretAccessKey: string, scope: Scope): KeyObject {
    const name = `${accessKeyId}/${scopeText(scope)}`;
    const known = this.#keys.get(name);
    if (known?.secretAccessKey === secretAccessKey) return known.key;
    const key = signingKey(secretAccessKey, scope);
    this.#keys.set(name, { secretAccessKey, key });
    return key;
  }
}

/** Signs requests to the store with SigV4 in the header. */
export class RequestSigner {
  readonly #region: string;
  readonly #now: () => number;
  readonly #keys = new SigningKeyCache();

  constructor(region: string, now: () => number = Date.now) {
    this.#region = region;
    this.#now = now;
  }

  sign(request: UnsignedRequest, credentials: SigningCredentials): SignedHead {
    const timestamp = isoBasicOf(this.#now());
    const headers = withSigningHeaders(request, credentials, timestamp);
    const scope = { date: timestamp.slice(0, 8), region: this.#region, service: 's3' };
    const signingKey = this.#keys.get(credentials.accessKeyId, credentials.secretAccessKey, scope);
    const signedHeaders = signable(headers);
    const query = canonicalQuery(request.query);
    const names = signedHeaders.join(';');
    const { method, path, payload } = request;
    const canonical = canonicalRequest({ method, path, query, headers, signedHeaders, payload }, names);
    const scopeName = scopeText(scope);
    const seed = hmacHex(signingKey, stringToSign(timestamp, scopeName, canonical));
    const credential = `${credentials.accessKeyId}/${scopeName}`;
    headers['authorization'] =
      `${algorithm} Credential=${credential}, SignedHeaders=${names}, Signature=${seed}`;
    return { headers, chunks: { signingKey, timestamp, scope: scopeName, seed } };
  }
}

function withSigningHeaders(
  request: UnsignedRequest,
  { sessionToken }: SigningCredentials,
  timestamp: string,
) {
  const headers: Record<string, string> = {
    ...request.headers,
    'x-amz-date': timestamp,
    'x-amz-content-sha256': request.payload,
  };
  if (sessionToken !== undefined) headers['x-amz-security-token'] = sessionToken;
  return headers;
}

function signable(headers: Readonly<Record<string, string>>): string[] {
  const names: string[] = [];
  for (const name in headers) if (!neverSigned.has(name)) names.push(name);
  return names.sort();
}

/** Input of a signature. */
export interface CanonicalParts {
  readonly method: string;
  /** Path of the canonical request, percent-encoded. */
  readonly path: string;
  /** Query of the canonical request. */
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
  /** Lower case, sorted. */
  readonly signedHeaders: readonly string[];
  /** A SHA-256 in hexadecimal, or a word such as UNSIGNED-PAYLOAD. */
  readonly payload: string;
}

export function canonicalRequest(parts: CanonicalParts, signedNames = parts.signedHeaders.join(';')): string {
  let text = `${parts.method}\n${parts.path}\n${parts.query}\n`;
  for (const name of parts.signedHeaders)
    text += `${name}:${canonicalValue(ownValue(parts.headers, name))}\n`;
  return `${text}\n${signedNames}\n${parts.payload}`;
}

/** Callers may list any name as signed, such as `constructor`. */
const ownValue = (headers: CanonicalParts['headers'], name: string) =>
  Object.hasOwn(headers, name) ? headers[name] : undefined;

/** Matches values that trimming and folding would change. */
const unfolded = /\t|^ | $| {2}/;

/** Trims, and folds runs of blanks. `trim` and `\s` would also match byte A0, which UTF-8 text may contain. */
function canonicalValue(value: string | readonly string[] | undefined): string {
  const text = typeof value === 'string' ? value : (value ?? []).join(',');
  if (!unfolded.test(text)) return text;
  return text.replace(/[ \t]+/g, ' ').replace(/^ | $/g, '');
}

/** The path for SigV4 with S3: decoded and encoded once, never normalized. */
export function canonicalPath(rawPath: string): string {
  if (/^[A-Za-z0-9\-._~/]*$/.test(rawPath)) return rawPath;
  return encodeKey(decodeURIComponent(rawPath));
}

/** Encoded parameters sorted by name, then value, without `except`. */
export function canonicalQuery(rawQuery: string, except?: string): string {
  if (rawQuery === '') return '';
  const pairs = rawQuery
    .split('&')
    .filter((pair) => pair !== '')
    .map(canonicalPair)
    .filter(([name]) => name !== except);
  return pairs
    .sort(byNameThenValue)
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

type Pair = readonly [name: string, value: string];

function canonicalPair(pair: string): Pair {
  const equals = pair.indexOf('=');
  if (equals < 0) return [recode(pair), ''];
  return [recode(pair.slice(0, equals)), recode(pair.slice(equals + 1))];
}

function recode(text: string): string {
  return encodeComponent(decodeURIComponent(text.replaceAll('+', '%20')));
}

function byNameThenValue(left: Pair, right: Pair): number {
  return compare(left[0], right[0]) || compare(left[1], right[1]);
}

function compare(left: string, right: string): number {
  return left < right ? -1 : Number(left > right);
}

const isAscii = /^[\0-\x7f]*$/;

/** Header values are byte strings (latin1), as in node:http. */
export function stringToSign(timestamp: string, scope: string, canonical: string): string {
  const bytes = isAscii.test(canonical) ? canonical : Buffer.from(canonical, 'latin1');
  const digest = hash('sha256', bytes, 'hex');
  return `${algorithm}\n${timestamp}\n${scope}\n${digest}`;
}

/** `date/region/service/aws4_request`; date as YYYYMMDD. */
export interface Scope {
  readonly date: string;
  readonly region: string;
  readonly service: string;
}

export const algorithm = 'AWS4-HMAC-SHA256';
export const terminator = 'aws4_request';

export function scopeText({ date, region, service }: Scope): string {
  return `${date}/${region}/${service}/${terminator}`;
}

const derived = (key: KeyObject, text: string): KeyObject =>
  createSecretKey(createHmac('sha256', key).update(text).digest());

/**
 * SigV4's signing key for a day, region and service. A KeyObject, because an HMAC with a buffer as key takes Node 24
 * ten times as long.
 */
export function signingKey(secretAccessKey: string, scope: Scope): KeyObject {
  const secret = createSecretKey(Buffer.from(`AWS4${secretAccessKey}`));
  const day = derived(secret, scope.date);
  return derived(derived(derived(day, scope.region), scope.service), terminator);
}

export function hmacHex(key: KeyObject, text: string): string {
  return createHmac('sha256', key).update(text).digest('hex');
}

let lastSecond = Number.NaN;
let lastText = '';

/** Formats milliseconds as `20130524T000000Z`. The last result is cached, since it serves all requests of a second. */
export function isoBasicOf(time: number): string {
  const second = Math.floor(time / 1000);
  if (second !== lastSecond) {
    lastText = new Date(time).toISOString().replace(/[-:]|\.\d{3}/g, '');
    lastSecond = second;
  }
  return lastText;
}

/** Links a body's chunk signatures to its request; `seed` is the signature of the request head. */
export interface ChunkSigningContext {
  readonly signingKey: KeyObject;
  /** ISO basic, `20130524T000000Z`. */
  readonly timestamp: string;
  /** `20130524/us-east-1/s3/aws4_request` */
  readonly scope: string;
  readonly seed: string;
}

/** What `x-amz-content-sha256` announces about the body. */
export type PayloadMode =
  | { readonly kind: 'unsigned' }
  | { readonly kind: 'literal'; readonly sha256: string }
  | { readonly kind: 'chunked'; readonly signed: boolean; readonly trailer: boolean };

export const streamingSigned = 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD';
export const streamingSignedTrailer = 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER';
export const streamingUnsignedTrailer = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER';
export const unsignedPayload = 'UNSIGNED-PAYLOAD';

const modes: Readonly<Record<string, PayloadMode>> = {
  [unsignedPayload]: { kind: 'unsigned' },
  [streamingSigned]: { kind: 'chunked', signed: true, trailer: false },
  [streamingSignedTrailer]: { kind: 'chunked', signed: true, trailer: true },
  [streamingUnsignedTrailer]: { kind: 'chunked', signed: false, trailer: true },
};

/** @throws S3Error InvalidArgument, or NotImplemented for payload signatures with SigV4A */
export function payloadMode(contentSha256: string | undefined): PayloadMode {
  if (contentSha256 === undefined) return { kind: 'unsigned' };
  const mode = Object.hasOwn(modes, contentSha256) ? modes[contentSha256] : undefined;
  if (mode) return mode;
  if (/^[0-9a-fA-F]{64}$/.test(contentSha256))
    return { kind: 'literal', sha256: contentSha256.toLowerCase() };
  if (contentSha256.startsWith('STREAMING-'))
    throw s3Error('NotImplemented', 'This payload signature is not known.');
  throw s3Error(
    'InvalidArgument',
    'x-amz-content-sha256 must be UNSIGNED-PAYLOAD, STREAMING-UNSIGNED-PAYLOAD-TRAILER, STREAMING-AWS4-HMAC-SHA256-PAYLOAD, STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER, STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD, STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD-TRAILER or a valid sha256 value.',
    { details: { ArgumentName: 'x-amz-content-sha256', ArgumentValue: contentSha256.slice(0, 100) } },
  );
}

/**
 * Announced plaintext bytes: `x-amz-decoded-content-length` of a chunked body, else `Content-Length`; undefined without
 * either.
 * @throws S3Error MissingContentLength, IncompleteBody, EntityTooLarge
 */
export function announcedLength(headers: IncomingHttpHeaders, mode: PayloadMode): number | undefined {
  const value = mode.kind === 'chunked' ? headers['x-amz-decoded-content-length'] : headers['content-length'];
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || !/^\d{1,15}$/.test(value)) {
    throw noLength(String(value));
  }
  return Number(value);
}

function noLength(text: string): S3Error {
  if (/^\d+$/.test(text)) return s3Error('EntityTooLarge');
  return s3Error(/^-\d+$/.test(text) ? 'IncompleteBody' : 'MissingContentLength');
}

/** Compares in constant time; texts of different length are unequal. */
export function sameHex(expected: string, claimed: string): boolean {
  const left = Buffer.from(expected, 'latin1');
  const right = Buffer.from(claimed, 'latin1');
  return left.length === right.length && timingSafeEqual(left, right);
}
