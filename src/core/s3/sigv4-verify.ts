import type { KeyObject } from 'node:crypto';
import { type S3Error, s3Error } from './error.ts';
import { type ClaimSource, readClaim, type SignatureClaim } from './sigv4-claim.ts';
import {
  canonicalPath,
  canonicalQuery,
  canonicalRequest,
  hmacHex,
  payloadMode,
  SigningKeyCache,
  sameHex,
  scopeText,
  stringToSign,
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
    payloadMode(claim.contentSha256);
    checkSignedHeaders(claim, request);
    const secret = this.#secretOf(claim.accessKeyId);
    if (secret === undefined)
      throw s3Error('InvalidAccessKeyId', undefined, { details: { AWSAccessKeyId: claim.accessKeyId } });
    const signingKey = this.#keys.get(claim.accessKeyId, secret, claim.scope);
    if (!/^[0-9a-f]{64}$/.test(claim.signature) || !matches(claim, request, signingKey))
      throw s3Error('SignatureDoesNotMatch');
    const { accessKeyId, presigned, contentSha256, timestamp, signature } = claim;
    const scope = scopeText(claim.scope);
    return { accessKeyId, presigned, contentSha256, signingKey, timestamp, scope, seed: signature };
  }
}

function checkTime({ timestamp, expires }: SignatureClaim, now: number): void {
  const signedAt = Date.parse(timestamp.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  if (Number.isNaN(signedAt)) throw s3Error('AccessDenied');
  if (signedAt - now > maxSkew) throw s3Error('RequestTimeTooSkewed');
  if (expires === undefined && now - signedAt > maxSkew) throw s3Error('RequestTimeTooSkewed');
  if (expires !== undefined && now > signedAt + expires * 1000) throw expired(signedAt, expires, now);
}

function expired(signedAt: number, expires: number, now: number): S3Error {
  const details = {
    'X-Amz-Expires': String(expires),
    Expires: new Date(signedAt + expires * 1000).toISOString(),
    ServerTime: new Date(now).toISOString(),
  };
  return s3Error('AccessDenied', 'Request has expired.', { details });
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
