import type { IncomingHttpHeaders } from 'node:http';
import { s3Error } from './error-catalog.ts';
import { unsignedPayload } from './payload.ts';
import { parseQueryEntries } from './query.ts';
import { algorithm, type Scope, terminator } from './sigv4-key.ts';

/** What a request says about its own signature; nothing of it is checked against a secret yet. */
export interface SignatureClaim {
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

export interface ClaimSource {
  readonly rawQuery: string;
  /** As they arrived, nothing hoisted into them. */
  readonly headers: IncomingHttpHeaders;
}

const maxExpires = 604_800;
const isoBasic = /^\d{8}T\d{6}Z$/;
const authorization =
  /^AWS4-HMAC-SHA256 +Credential=([^,\s]+) *, *SignedHeaders=([^,\s]+) *, *Signature=([0-9a-f]{64})$/;

/** @throws S3Error AccessDenied when there is no signature, else what is wrong with its form */
export function readClaim(source: ClaimSource): SignatureClaim {
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

/** `20130524T000000Z` of that time in milliseconds. */
export function isoBasicOf(time: number): string {
  return new Date(time).toISOString().replace(/[-:]|\.\d{3}/g, '');
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
