import type { ChunkSigningContext } from './chunk-signature.ts';
import { canonicalQuery, canonicalRequest, stringToSign } from './sigv4-canonical.ts';
import { isoBasicOf } from './sigv4-claim.ts';
import { algorithm, hmacHex, SigningKeyCache, scopeText } from './sigv4-key.ts';

export interface SigningCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

export interface UnsignedRequest {
  readonly method: string;
  /** Percent-encoded as `upstreamPath` does; goes on the request line as it stands. */
  readonly path: string;
  /** Without `?`; goes on the request line as it stands. */
  readonly query: string;
  /** Lower-case names; `host` is required. */
  readonly headers: Readonly<Record<string, string>>;
  /** `x-amz-content-sha256`: a SHA-256 in hexadecimal, UNSIGNED-PAYLOAD or STREAMING-…. */
  readonly payload: string;
}

export interface SignedHead {
  /** All headers to send. */
  readonly headers: Record<string, string>;
  /** Where chunk signatures continue from. */
  readonly chunks: ChunkSigningContext;
}

/** Headers that connections and intermediaries change, or that stores treat apart. */
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
    const canonical = canonicalRequest({ ...request, query, headers, signedHeaders });
    const scopeName = scopeText(scope);
    const seed = hmacHex(signingKey, stringToSign(timestamp, scopeName, canonical));
    const credential = `${credentials.accessKeyId}/${scopeName}`;
    headers['authorization'] =
      `${algorithm} Credential=${credential}, SignedHeaders=${signedHeaders.join(';')}, Signature=${seed}`;
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
  return Object.keys(headers)
    .filter((name) => !neverSigned.has(name))
    .sort();
}
