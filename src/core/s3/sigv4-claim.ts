import type { IncomingHttpHeaders } from 'node:http';
import { type S3Error, s3Error } from './error.ts';
import { parseQueryEntries } from './request.ts';
import { algorithm, isoBasicOf, type Scope, terminator, unsignedPayload } from './sigv4-sign.ts';

/** What a request says about its own signature; nothing of it is checked against a secret yet. */
export interface SignatureClaim {
  readonly presigned: boolean;
  readonly accessKeyId: string;
  /** Its date is that of `timestamp`. */
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

/** SigV4A, which S3 itself has. */
const asymmetric = 'AWS4-ECDSA-P256-SHA256';
const maxExpires = 604_800;
const isoBasic = /^\d{8}T\d{6}Z$/;
const inQuery = /(?:^|&)X-Amz-(?:Algorithm|Credential|Signature|SignedHeaders|Expires)=/;
const signedInQuery = /(?:^|&)(?:X-Amz-(?:Algorithm|Signature)|AWSAccessKeyId)=/;

/** @throws S3Error AccessDenied when there is no signature, else what is wrong with its form, in the words of S3 */
export function readClaim(source: ClaimSource): SignatureClaim {
  const { rawQuery, headers } = source;
  const { authorization } = headers;
  if (authorization === undefined) {
    if (inQuery.test(rawQuery)) return fromQuery(source);
    throw signedInQuery.test(rawQuery) ? unsupported() : s3Error('AccessDenied');
  }
  if (signedInQuery.test(rawQuery))
    throw s3Error('InvalidArgument', 'Only one authorization mechanism is allowed.');
  return fromHeader(authorization, headers);
}

function fromHeader(header: string, headers: IncomingHttpHeaders): SignatureClaim {
  const [credential, signedHeaders, signature] = readComponents(header);
  const { accessKeyId, scope } = parseCredential(credential, malformed);
  const contentSha256 = headers['x-amz-content-sha256'];
  if (typeof contentSha256 !== 'string') {
    throw s3Error('InvalidRequest', 'Missing required header for this request: x-amz-content-sha256');
  }
  const timestamp = headerTimestamp(headers);
  if (!timestamp.startsWith(scope.date))
    throw malformed('Invalid credential date. Date is not the same as X-Amz-Date.');
  return {
    presigned: false,
    ...{ accessKeyId, scope, timestamp },
    signedHeaders: signedHeaders.split(';'),
    ...{ signature, contentSha256 },
  };
}

const componentNames = ['Credential', 'SignedHeaders', 'Signature'] as const;

function readComponents(header: string): [credential: string, signedHeaders: string, signature: string] {
  const [, mechanism = '', rest] = /^(\S*)(?: +(.*))?$/.exec(header) ?? [];
  if (rest === undefined)
    throw ofHeader("Authorization header is invalid -- one and only one ' ' (space) required.", mechanism);
  if (mechanism === 'AWS') throw unsupported();
  if (mechanism !== algorithm) throw ofHeader('Unsupported Authorization Type', mechanism);
  const components = rest.split(',').map((component) => component.trim());
  if (components.length !== componentNames.length)
    throw malformed(
      'the authorization header requires three components: Credential, SignedHeaders, and Signature.',
    );
  return components.map((component, index) => {
    const equals = component.indexOf('=');
    if (equals < 0) throw malformed(`the authorization component ${quoted(component)} is malformed.`);
    const name = componentNames[index] as string;
    if (component.slice(0, equals) !== name) throw malformed(`missing ${name}.`);
    return component.slice(equals + 1);
  }) as [string, string, string];
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
  const required = (name: string): string => {
    const value = parameters.get(name);
    if (value) return value;
    throw badParameters(
      'Query-string authentication version 4 requires the X-Amz-Algorithm, X-Amz-Credential, X-Amz-Signature, X-Amz-Date, X-Amz-SignedHeaders, and X-Amz-Expires parameters.',
    );
  };
  const asked = required('X-Amz-Algorithm');
  if (asked !== algorithm)
    throw badParameters(
      `X-Amz-Algorithm only supports "${asked === asymmetric ? algorithm : `${algorithm} and ${asymmetric}`}"`,
    );
  const { accessKeyId, scope } = parseCredential(required('X-Amz-Credential'), (message) =>
    badParameters(`Error parsing the X-Amz-Credential parameter; ${message}`),
  );
  const inHeader = headers['x-amz-content-sha256'];
  return {
    presigned: true,
    ...{ accessKeyId, scope, timestamp: parseDate(required('X-Amz-Date'), scope) },
    signature: required('X-Amz-Signature'),
    signedHeaders: required('X-Amz-SignedHeaders').split(';'),
    expires: parseExpires(required('X-Amz-Expires')),
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

function parseDate(timestamp: string, { date }: Scope): string {
  if (!isoBasic.test(timestamp))
    throw badParameters("X-Amz-Date must be in the ISO8601 Long Format \"yyyyMMdd'T'HHmmss'Z'\"");
  if (timestamp.startsWith(date)) return timestamp;
  throw badParameters(
    `Invalid credential date ${quoted(date)}. This date is not the same as X-Amz-Date: ${quoted(timestamp.slice(0, 8))}.`,
  );
}

function parseExpires(text: string): number {
  if (!/^-?\d{1,18}$/.test(text)) throw badParameters('X-Amz-Expires should be a number');
  const seconds = Number(text);
  if (seconds < 0) throw badParameters('X-Amz-Expires must be non-negative');
  if (seconds === 0) throw badParameters();
  if (seconds <= maxExpires) return seconds;
  throw badParameters(
    'X-Amz-Expires must be less than a week (in seconds); that is, the given X-Amz-Expires must be less than 604800 seconds',
  );
}

/** The access key ID may hold slashes, the scope does not. */
function parseCredential(
  credential: string,
  refuse: (message: string) => S3Error,
): { accessKeyId: string; scope: Scope } {
  const [, accessKeyId, date = '', region, service = '', end = ''] =
    /^(.+)\/([^/]*)\/([^/]+)\/([^/]*)\/([^/]*)$/.exec(credential) ?? [];
  if (!accessKeyId || !region)
    throw refuse(
      `the Credential is mal-formed; expecting "<YOUR-AKID>/YYYYMMDD/REGION/SERVICE/${terminator}".`,
    );
  if (service !== 's3') throw refuse(`incorrect service ${quoted(service)}. This endpoint belongs to "s3".`);
  if (end !== terminator)
    throw refuse(`incorrect terminal ${quoted(end)}. This endpoint uses "${terminator}".`);
  if (!/^\d{8}$/.test(date))
    throw refuse(
      `incorrect date format ${quoted(date)}. This date in the credential must be in the format "yyyyMMdd".`,
    );
  return { accessKeyId, scope: { date, region, service } };
}

/** As the caller sent it; long ones are cut. */
const quoted = (text: string): string => JSON.stringify(text.slice(0, 100));

const malformed = (message: string): S3Error =>
  s3Error('AuthorizationHeaderMalformed', `The authorization header is malformed; ${message}`);

const badParameters = (message?: string): S3Error => s3Error('AuthorizationQueryParametersError', message);

const ofHeader = (message: string, value: string): S3Error =>
  s3Error('InvalidArgument', message, {
    details: { ArgumentName: 'Authorization', ArgumentValue: value.slice(0, 100) },
  });

const unsupported = (): S3Error =>
  s3Error(
    'InvalidRequest',
    `The authorization mechanism you have provided is not supported. Please use ${algorithm}.`,
  );
