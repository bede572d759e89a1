import type { IncomingHttpHeaders } from 'node:http';
import { type S3Error, s3Error } from './error.ts';
import { hasMore, parseQueryEntries } from './request.ts';
import { algorithm, isoBasicOf, payloadMode, type Scope, terminator, unsignedPayload } from './sigv4-sign.ts';

/** A request's statements about its own signature, not verified yet. */
export interface SignatureClaim {
  readonly presigned: boolean;
  readonly accessKeyId: string;
  readonly scope: Scope;
  /** ISO basic, `20130524T000000Z`. */
  readonly timestamp: string;
  /** Seconds; only for presigned requests. */
  readonly expires?: number;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
  readonly contentSha256: string;
}

export interface ClaimSource {
  readonly rawQuery: string;
  /** Headers as received, without hoisted ones. */
  readonly headers: IncomingHttpHeaders;
}

const maxExpires = 604_800;
const isoBasic = /^\d{8}T\d{6}Z$/;

/** @throws S3Error AccessDenied without a signature; otherwise the error in its form */
export function readClaim(source: ClaimSource): SignatureClaim {
  const header = source.headers.authorization;
  const inQuery = /(?:^|&)(?:X-Amz-(?:Algorithm|Signature)|AWSAccessKeyId)=/.test(source.rawQuery);
  if (header !== undefined && inQuery)
    throw s3Error('InvalidArgument', 'Only one authorization mechanism is allowed.');
  if (header !== undefined) return fromHeader(header, source.headers);
  if (inQuery) return fromQuery(source);
  throw s3Error('AccessDenied');
}

function fromHeader(header: string, headers: IncomingHttpHeaders): SignatureClaim {
  const { credential, signedHeaders, signature } = headerComponents(header);
  const scoped = parseCredential(credential, malformedHeader);
  const contentSha256 = headers['x-amz-content-sha256'];
  if (typeof contentSha256 !== 'string') {
    throw s3Error('InvalidRequest', 'Missing required header for this request: x-amz-content-sha256');
  }
  payloadMode(contentSha256);
  return {
    presigned: false,
    ...scoped,
    timestamp: headerTimestamp(headers),
    signedHeaders: headerNames(signedHeaders, malformedHeader),
    signature,
    contentSha256,
  };
}

const componentNames = ['Credential', 'SignedHeaders', 'Signature'] as const;

/** `AWS4-HMAC-SHA256 Credential=…,SignedHeaders=…,Signature=…`, rejected in the words of S3. */
function headerComponents(header: string): { credential: string; signedHeaders: string; signature: string } {
  const space = header.indexOf(' ');
  const type = header.slice(0, space);
  if (space < 0) {
    throw badHeader("Authorization header is invalid -- one and only one ' ' (space) required.", header);
  }
  if (type === 'AWS') throw unsupported();
  if (type !== algorithm) throw badHeader('Unsupported Authorization Type', type);
  const components = header.slice(space).split(',');
  if (components.length !== componentNames.length) {
    throw malformedHeader(
      'the authorization header requires three components: Credential, SignedHeaders, and Signature.',
    );
  }
  const [credential = '', signedHeaders = '', signature = ''] = components.map((component, index) => {
    const [, name, value] = /^([^=\s]+)=([^=\s]+)$/.exec(component.trim()) ?? [];
    const expected = componentNames[index];
    if (name === undefined || value === undefined) throw malformedComponent(component);
    if (name !== expected) throw malformedHeader(`missing ${expected}.`);
    return value;
  });
  return { credential, signedHeaders, signature };
}

/** As many as a request may have. */
const maxSignedHeaders = 128;

/** Each name once: the signature is over as many values. */
function headerNames(list: string, refuse: (what: string) => S3Error): readonly string[] {
  if (hasMore(list, ';', maxSignedHeaders - 1))
    throw refuse(`SignedHeaders has more than ${maxSignedHeaders} names.`);
  const names = list.split(';');
  if (new Set(names).size < names.length) throw refuse('SignedHeaders names a header twice.');
  return names;
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
  const kind = parameters.get('X-Amz-Algorithm');
  if (kind === undefined && /(?:^|&)AWSAccessKeyId=/.test(rawQuery)) throw unsupported();
  const required = (name: string): string => {
    const value = parameters.get(name);
    if (value === undefined || value === '') throw badParameters(missingParameters);
    return value;
  };
  if (required('X-Amz-Algorithm') !== algorithm) throw badParameters(badAlgorithm(kind));
  const scoped = parseCredential(required('X-Amz-Credential'), (what) =>
    badParameters(`Error parsing the X-Amz-Credential parameter; ${what}`),
  );
  const timestamp = required('X-Amz-Date');
  if (!isoBasic.test(timestamp)) {
    throw badParameters(`X-Amz-Date must be in the ISO8601 Long Format "yyyyMMdd'T'HHmmss'Z'"`);
  }
  const signature = required('X-Amz-Signature');
  const inHeader = headers['x-amz-content-sha256'];
  return {
    presigned: true,
    ...scoped,
    timestamp,
    signedHeaders: headerNames(required('X-Amz-SignedHeaders'), badParameters),
    expires: parseExpires(required('X-Amz-Expires')),
    signature,
    contentSha256:
      parameters.get('X-Amz-Content-Sha256') ?? (typeof inHeader === 'string' ? inHeader : unsignedPayload),
  };
}

const missingParameters =
  'Query-string authentication version 4 requires the X-Amz-Algorithm, X-Amz-Credential, X-Amz-Signature, ' +
  'X-Amz-Date, X-Amz-SignedHeaders, and X-Amz-Expires parameters.';

const badAlgorithm = (kind = '') =>
  kind === 'AWS4-ECDSA-P256-SHA256'
    ? `X-Amz-Algorithm only supports "${algorithm}"`
    : `X-Amz-Algorithm only supports "${algorithm} and AWS4-ECDSA-P256-SHA256"`;

function signatureParameters(rawQuery: string): Map<string, string> {
  const parameters = new Map<string, string>();
  for (const [name, value] of parseQueryEntries(rawQuery)) {
    if (!name.startsWith('X-Amz-')) continue;
    if (parameters.has(name)) throw badParameters();
    parameters.set(name, value);
  }
  return parameters;
}

function parseExpires(text: string): number {
  if (!/^-?\d+$/.test(text)) throw badParameters('X-Amz-Expires should be a number');
  const seconds = Number(text);
  if (seconds < 1) throw badParameters('X-Amz-Expires must be non-negative');
  if (seconds > maxExpires) {
    throw badParameters(
      'X-Amz-Expires must be less than a week (in seconds); that is, the given X-Amz-Expires must be less than 604800 seconds',
    );
  }
  return seconds;
}

/** The access key ID may contain slashes, the scope does not. */
function parseCredential(
  credential: string,
  refuse: (what: string) => S3Error,
): { accessKeyId: string; scope: Scope } {
  const [, accessKeyId, date, region, service, end] =
    /^(.+)\/([^/]*)\/([^/]+)\/([^/]*)\/([^/]*)$/.exec(credential) ?? [];
  const scoped = service === 's3' && end === terminator;
  if (!accessKeyId || date === undefined || !region || (!scoped && accessKeyId.includes('/'))) {
    throw refuse(
      `the Credential is mal-formed; expecting "<YOUR-AKID>/YYYYMMDD/REGION/SERVICE/${terminator}".`,
    );
  }
  if (service !== 's3') throw refuse(`incorrect service "${service}". This endpoint belongs to "s3".`);
  if (end !== terminator) {
    throw refuse(`incorrect terminal "${end}". This endpoint uses "${terminator}".`);
  }
  if (!/^\d{8}$/.test(date)) {
    throw refuse(
      `incorrect date format "${date}". This date in the credential must be in the format "yyyyMMdd".`,
    );
  }
  return { accessKeyId, scope: { date, region, service } };
}

function unsupported() {
  return s3Error(
    'InvalidRequest',
    `The authorization mechanism you have provided is not supported. Please use ${algorithm}.`,
  );
}

/** Values that are echoed to the sender do not go to the log. */
function badHeader(message: string, value: string) {
  return s3Error('InvalidArgument', message, {
    details: { ArgumentName: 'Authorization', ArgumentValue: value },
  });
}

export function malformedHeader(what: string) {
  return s3Error('AuthorizationHeaderMalformed', `The authorization header is malformed; ${what}`);
}

function malformedComponent(component: string) {
  return malformedHeader(`the authorization component "${component.trim()}" is malformed.`);
}

export function badParameters(message?: string) {
  return s3Error('AuthorizationQueryParametersError', message);
}
