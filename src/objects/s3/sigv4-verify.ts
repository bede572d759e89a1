import type { KeyObject } from 'node:crypto';
import { s3Error } from './error.ts';
import {
  badParameters,
  type ClaimSource,
  malformedHeader,
  readClaim,
  type SignatureClaim,
} from './sigv4-claim.ts';
import {
  canonicalPath,
  canonicalQuery,
  canonicalRequest,
  hmacHex,
  SigningKeyCache,
  sameHex,
  scopeText,
  stringToSign,
} from './sigv4-sign.ts';

export interface SignedRequest extends ClaimSource {
  readonly method: string;
  readonly rawPath: string;
}

/** A request with a valid signature; its chunk signatures continue from the last three fields. */
export interface VerifiedSignature {
  readonly accessKeyId: string;
  readonly presigned: boolean;
  /** As signed: a SHA-256 in hexadecimal, UNSIGNED-PAYLOAD or STREAMING-…; the body is verified against this value. */
  readonly contentSha256: string;
  readonly signingKey: KeyObject;
  readonly timestamp: string;
  readonly scope: string;
  readonly seed: string;
}

const maxSkew = 15 * 60 * 1000;
/** All known keys are permanent, so no token belongs to them. */
const securityToken = /(?:^|&)X-Amz-Security-Token=/;

/** Verifies SigV4 of callers, in the header or presigned, by signing again and comparing. Accepts any region. */
export class SignatureVerifier {
  readonly #secretOf: (accessKeyId: string) => string | undefined;
  readonly #now: () => number;
  readonly #keys = new SigningKeyCache();

  /** @param now milliseconds since 1970 */
  constructor(secretOf: (accessKeyId: string) => string | undefined, now: () => number = Date.now) {
    this.#secretOf = secretOf;
    this.#now = now;
  }

  /**
   * @throws S3Error AccessDenied, InvalidAccessKeyId, RequestTimeTooSkewed, SignatureDoesNotMatch, and errors for
   *   malformed claims
   */
  verify(request: SignedRequest): VerifiedSignature {
    const claim = readClaim(request);
    checkTime(claim, this.#now());
    checkSignedHeaders(claim, request);
    const secret = this.#secretOf(claim.accessKeyId);
    if (secret === undefined) {
      throw s3Error('InvalidAccessKeyId', undefined, { details: { AWSAccessKeyId: claim.accessKeyId } });
    }
    const signingKey = this.#keys.get(claim.accessKeyId, secret, claim.scope);
    if (!matches(claim, request, signingKey)) {
      throw s3Error(
        claim.presigned && securityToken.test(request.rawQuery) ? 'InvalidToken' : 'SignatureDoesNotMatch',
      );
    }
    const { accessKeyId, presigned, contentSha256, timestamp, signature } = claim;
    const scope = scopeText(claim.scope);
    return { accessKeyId, presigned, contentSha256, signingKey, timestamp, scope, seed: signature };
  }
}

function checkTime({ presigned, timestamp, scope, expires }: SignatureClaim, now: number): void {
  const signedAt = Date.parse(timestamp.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  if (Number.isNaN(signedAt) || !timestamp.startsWith(scope.date)) {
    const what = `Invalid credential date "${scope.date}". This date is not the same as X-Amz-Date: "${timestamp.slice(0, 8)}".`;
    throw presigned ? badParameters(what) : malformedHeader(what);
  }
  if (signedAt - now > maxSkew) throw s3Error('RequestTimeTooSkewed');
  if (expires === undefined) {
    if (now - signedAt > maxSkew) throw s3Error('RequestTimeTooSkewed');
  } else if (now > signedAt + expires * 1000) {
    throw s3Error('AccessDenied', 'Request has expired.', {
      details: {
        ServerTime: new Date(now).toISOString(),
        'X-Amz-Expires': String(expires),
        Expires: new Date(signedAt + expires * 1000).toISOString(),
      },
    });
  }
}

function checkSignedHeaders({ signedHeaders }: SignatureClaim, { headers }: SignedRequest): void {
  const signed = new Set(signedHeaders);
  const unsigned = Object.keys(headers).filter((name) => name.startsWith('x-amz-') && !signed.has(name));
  if (unsigned.length > 0 || !signed.has('host')) {
    throw s3Error('AccessDenied', 'There were headers present in the request which were not signed', {
      details: { HeadersNotSigned: unsigned.join(', ') || 'host' },
    });
  }
}

/** Some clients sign the path as sent, even if its encoding differs from SigV4's. */
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
