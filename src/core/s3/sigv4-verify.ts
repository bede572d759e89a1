import type { KeyObject } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { s3Error } from './error.ts';
import { parseQueryEntries } from './request.ts';
import {
  algorithm,
  canonicalPath,
  canonicalQuery,
  canonicalRequest,
  hmacHex,
  isoBasicOf,
  type Scope,
  SigningKeyCache,
  sameHex,
  scopeText,
  stringToSign,
  terminator,
  unsignedPayload,
} from './sigv4-sign.ts';

export interface SignedRequest extends ClaimSource {
  readonly method: string;
  readonly rawPath: string;
}

/** A request whose signature holds; the last three are what its chunk signatures continue from. */
export interface VerifiedSignature {
  readonly accessKeyId: string;
  readonly presigned: boolean;
  /** As signed: a SHA-256 in hexadecimal, UNSIGNED-PAYLOAD or STREAMING-…; the body is checked against this one. */
  readonly contentSha256: string;
  readonly signingKey: KeyObject;
  readonly timestamp: string;
  readonly scope: string;
  readonly seed: string;
}

const maxSkew = 15 * 60 * 1000;

/** Verifies SigV4 of callers, in the header and presigned, by signing again and comparing. Any region is accepted. */
export class SignatureVerifier {
  readonly #secretOf: (accessKeyId: string) => string | undefined;
  readonly #now: () => number;
  readonly #keys = new SigningKeyCache();

  /** `now` gives milliseconds since 1970. */
  constructor(secretOf: (accessKeyId: string) => string | undefined, now: () => number = Date.now) {
    this.#secretOf = secretOf;
    this.#now = now;
  }

  /** @throws S3Error AccessDenied, InvalidAccessKeyId, RequestTimeTooSkewed, SignatureDoesNotMatch and malformed claims */
  verify(request: SignedRequest): VerifiedSignature {
    const claim = readClaim(request);
    checkTime(claim, this.#now());
    checkSignedHeaders(claim, request);
    const secret = this.#secretOf(claim.accessKeyId);
    if (secret === undefined) throw s3Error('InvalidAccessKeyId');
    const signingKey = this.#keys.get(claim.accessKeyId, secret, claim.scope);
    if (!matches(claim, request, signingKey)) throw s3Error('SignatureDoesNotMatch');
    const { accessKeyId, presigned, contentSha256, timestamp, signature } = claim;
    const scope = scopeText(claim.scope);
    return { accessKeyId, presigned, contentSha256, signingKey, timestamp, scope, seed: signature };
  }
}

function checkTime({ timestamp, scope, expires }: SignatureClaim, now: number): void {
  const signedAt = Date.parse(timestamp.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  if (Number.isNaN(signedAt) || !timestamp.startsWith(scope.date)) {
    throw s3Error('AuthorizationHeaderMalformed', 'The date of the credential is not that of the request.');
  }
  if (signedAt - now > maxSkew) throw s3Error('RequestTimeTooSkewed');
  if (expires === undefined && now - signedAt > maxSkew) throw s3Error('RequestTimeTooSkewed');
  if (expires !== undefined && now > signedAt + expires * 1000)
    throw s3Error('AccessDenied', 'Request has expired');
}

function checkSignedHeaders({ signedHeaders }: SignatureClaim, { headers }: SignedRequest): void {
  const unsigned = Object.keys(headers).filter(
    (name) => name.startsWith('x-amz-') && !signedHeaders.includes(name),
  );
  if (unsigned.length > 0 || !signedHeaders.includes('host')) {
    throw s3Error('AccessDenied', 'There were headers present in the request which were not signed', {
      details: { HeadersNotSigned: unsigned.join(', ') || 'host' },
    });
  }
}

/** Some clients sign the path as they sent it where its encoding differs from SigV4's. */
function matches(claim: SignatureClaim, request: SignedRequest, key: KeyObject): boolean {
  const canonical = canonicalPath(request.rawPath);
  if (sameHex(signatureOver(canonical, claim, request, key), claim.signature)) return true;
  return (
    request.rawPath !== canonical &&
    sameHex(signatureOver(request.rawPath, claim, request, key), claim.signature)
  );
}

function signatureOver(path: string, claim: SignatureClaim, request: SignedRequest, key: KeyObject): string {
  const canonical = canonicalRequest({
    method: request.method,
    path,
    query: canonicalQuery(request.rawQuery, claim.presigned ? 'X-Amz-Signature' : undefined),
    headers: request.headers,
    signedHeaders: claim.signedHeaders,
    payload: claim.contentSha256,
  });
  return hmacHex(key, stringToSign(claim.timestamp, scopeText(claim.scope), canonical));
}

/** What a request says about its own signature; nothing of it is checked against a secret yet. */
interface SignatureClaim {
  readonly presigned: boolean;
  readonly accessKeyId: string;
  readonly scope: Scope;
  /** ISO basic, `20130524T000000Z`. */
  readonly timestamp: string;
  /** Seconds; presigned only. */
  readonly expires?: number;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
  readonly contentSha256: string;
}

interface ClaimSource {
  readonly rawQuery: string;
  /** As they arrived, nothing hoisted into them. */
  readonly headers: IncomingHttpHeaders;
}

const maxExpires = 604_800;
const isoBasic = /^\d{8}T\d{6}Z$/;
const authorization =
  /^AWS4-HMAC-SHA256 +Credential=([^,\s]+) *, *SignedHeaders=([^,\s]+) *, *Signature=([0-9a-f]{64})$/;

/** @throws S3Error AccessDenied when there is no signature, else what is wrong with its form */
function readClaim(source: ClaimSource): SignatureClaim {
  const header = source.headers.authorization;
  const inQuery = /(?:^|&)(?:X-Amz-(?:Algorithm|Signature)|AWSAccessKeyId)=/.test(source.rawQuery);
  if (header !== undefined && inQuery)
    throw s3Error('InvalidArgument', 'Only one authorization mechanism is allowed.');
  if (header !== undefined) return fromHeader(header, source.headers);
  if (inQuery) return fromQuery(source);
  throw s3Error('AccessDenied', 'The request is not signed.');
}

function fromHeader(header: string, headers: IncomingHttpHeaders): SignatureClaim {
  if (!header.startsWith(`${algorithm} `)) throw unsupported();
  const [, credential, signedHeaders, signature] = authorization.exec(header) ?? [];
  if (!credential || !signedHeaders || !signature) throw s3Error('AuthorizationHeaderMalformed');
  const contentSha256 = headers['x-amz-content-sha256'];
  if (typeof contentSha256 !== 'string') {
    throw s3Error('InvalidRequest', 'Missing required header for this request: x-amz-content-sha256');
  }
  const names = signedHeaders.split(';');
  const timestamp = headerTimestamp(headers);
  return {
    presigned: false,
    ...parseCredential(credential),
    timestamp,
    signedHeaders: names,
    signature,
    contentSha256,
  };
}

function headerTimestamp(headers: IncomingHttpHeaders): string {
  const own = headers['x-amz-date'];
  if (typeof own === 'string' && isoBasic.test(own)) return own;
  const time = Date.parse(headers.date ?? '');
  if (own !== undefined || Number.isNaN(time)) {
    throw s3Error('AccessDenied', 'AWS authentication requires a valid Date or x-amz-date header.');
  }
  return isoBasicOf(time);
}

function fromQuery({ rawQuery, headers }: ClaimSource): SignatureClaim {
  const parameters = signatureParameters(rawQuery);
  if (parameters.get('X-Amz-Algorithm') !== algorithm) throw unsupported();
  const timestamp = parameters.get('X-Amz-Date') ?? '';
  const signature = parameters.get('X-Amz-Signature') ?? '';
  const signedHeaders = parameters.get('X-Amz-SignedHeaders') ?? '';
  if (!isoBasic.test(timestamp) || !/^[0-9a-f]{64}$/.test(signature) || signedHeaders === '')
    throw badParameters();
  const inHeader = headers['x-amz-content-sha256'];
  return {
    presigned: true,
    ...parseCredential(parameters.get('X-Amz-Credential') ?? ''),
    timestamp,
    expires: parseExpires(parameters.get('X-Amz-Expires')),
    signedHeaders: signedHeaders.split(';'),
    signature,
    contentSha256:
      parameters.get('X-Amz-Content-Sha256') ?? (typeof inHeader === 'string' ? inHeader : unsignedPayload),
  };
}

function signatureParameters(rawQuery: string): Map<string, string> {
  const parameters = new Map<string, string>();
  for (const [name, value] of parseQueryEntries(rawQuery)) {
    if (!name.startsWith('X-Amz-')) continue;
    if (parameters.has(name)) throw badParameters();
    parameters.set(name, value);
  }
  return parameters;
}

function parseExpires(text: string | undefined): number {
  const seconds = /^\d{1,6}$/.test(text ?? '') ? Number(text) : 0;
  if (seconds < 1 || seconds > maxExpires) throw badParameters();
  return seconds;
}

/** The access key ID may hold slashes, the scope does not. */
function parseCredential(credential: string): { accessKeyId: string; scope: Scope } {
  const [, accessKeyId, date, region, service, end] =
    /^(.+)\/(\d{8})\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(credential) ?? [];
  if (!accessKeyId || !date || !region || service !== 's3' || end !== terminator) {
    throw s3Error(
      'AuthorizationHeaderMalformed',
      'The credential must end in <date>/<region>/s3/aws4_request.',
    );
  }
  return { accessKeyId, scope: { date, region, service } };
}

function unsupported() {
  return s3Error('InvalidRequest', `This authorization mechanism is not supported. Please use ${algorithm}.`);
}

function badParameters() {
  return s3Error('AuthorizationQueryParametersError');
}
