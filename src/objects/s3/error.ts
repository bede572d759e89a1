import { element } from './xml-text.ts';

/**
 * An error response of the S3 API: `code` as documented by S3, `status` the HTTP status. Messages contain no data and
 * no secrets.
 */
export class S3Error extends Error {
  override readonly name = 'S3Error';
  readonly code: string;
  readonly status: number;
  /** Further elements of the error body, such as `Key` or `ArgumentName`. */
  readonly details: Readonly<Record<string, string>>;

  constructor(
    code: string,
    status: number,
    message: string,
    options: { details?: Readonly<Record<string, string>>; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.status = status;
    this.details = options.details ?? {};
  }
}

/** HTTP status and default message, in the words of S3, of every S3 error returned here. */
export const errorCatalog = {
  AccessDenied: [403, 'Access Denied.'],
  AuthorizationHeaderMalformed: [400, 'The authorization header you provided is invalid.'],
  AuthorizationQueryParametersError: [
    400,
    'The authorization query parameters that you provided are not valid.',
  ],
  BadDigest: [400, 'The Content-MD5 you specified did not match what we received.'],
  ConditionalRequestConflict: [
    409,
    'The conditional request cannot succeed due to a conflicting operation against this resource.',
  ],
  EntityTooLarge: [400, 'Your proposed upload exceeds the maximum allowed object size.'],
  EntityTooSmall: [400, 'Your proposed upload is smaller than the minimum allowed size'],
  IncompleteBody: [
    400,
    'You did not provide the number of bytes specified by the Content-Length HTTP header',
  ],
  InternalError: [500, 'We encountered an internal error, please try again.'],
  InvalidAccessKeyId: [403, 'The AWS Access Key Id you provided does not exist in our records.'],
  InvalidArgument: [400, 'Invalid Argument'],
  InvalidBucketName: [400, 'The specified bucket is not valid.'],
  InvalidDigest: [400, 'The Content-Md5 you specified is not valid.'],
  InvalidPart: [
    400,
    "One or more of the specified parts could not be found.  The part may not have been uploaded, or the specified entity tag may not match the part's entity tag.",
  ],
  InvalidPartNumber: [416, 'The requested partnumber is not satisfiable.'],
  InvalidPartOrder: [
    400,
    'The list of parts was not in ascending order. Parts must be ordered by part number.',
  ],
  InvalidRange: [416, 'The requested range is not satisfiable'],
  InvalidRequest: [400, 'Invalid Request.'],
  InvalidURI: [400, "The specified URI couldn't be parsed."],
  InvalidToken: [400, 'The provided token is malformed or otherwise invalid.'],
  KeyTooLongError: [400, 'Your key is too long.'],
  MalformedPolicy: [400, "Policies must be valid JSON and the first byte must be '{'"],
  MalformedTrailerError: [
    400,
    'The request contained trailing data that was not well-formed or did not conform to our published schema.',
  ],
  MalformedXML: [
    400,
    'The XML you provided was not well-formed or did not validate against our published schema.',
  ],
  MaxMessageLengthExceeded: [400, 'Your request was too big.'],
  MetadataTooLarge: [400, 'Your metadata headers exceed the maximum allowed metadata size'],
  MethodNotAllowed: [405, 'The specified method is not allowed against this resource.'],
  MissingRequestBodyError: [400, 'Request Body is empty'],
  MissingContentLength: [411, 'You must provide the Content-Length HTTP header.'],
  NoSuchBucket: [404, 'The specified bucket does not exist.'],
  NoSuchKey: [404, 'The specified key does not exist.'],
  NoSuchUpload: [
    404,
    'The specified multipart upload does not exist. The upload ID may be invalid, or the upload may have been aborted or completed.',
  ],
  NoSuchVersion: [404, 'The specified version does not exist.'],
  NotImplemented: [501, 'A header you provided implies functionality that is not implemented.'],
  OperationAborted: [
    409,
    'A conflicting conditional operation is currently in progress against this resource. Please try again.',
  ],
  PreconditionFailed: [412, 'At least one of the pre-conditions you specified did not hold.'],
  RequestHeaderSectionTooLarge: [400, 'Your request header section exceeds the maximum allowed size.'],
  RequestTimeTooSkewed: [403, 'The difference between the request time and the current time is too large.'],
  RequestTimeout: [
    400,
    'Your socket connection to the server was not read from or written to within the timeout period.',
  ],
  ServiceUnavailable: [503, 'Service is unable to handle the request. Please retry.'],
  SignatureDoesNotMatch: [
    403,
    'The request signature we calculated does not match the signature you provided. Check your key and signing method.',
  ],
  SlowDown: [503, 'Please reduce your request rate.'],
  UnexpectedContent: [400, 'This request does not support content.'],
  XAmzContentSHA256Mismatch: [
    400,
    "The provided 'x-amz-content-sha256' header does not match what was computed.",
  ],
} as const satisfies Record<string, readonly [status: number, message: string]>;

export type S3ErrorCode = keyof typeof errorCatalog;

/** The S3 error with this code and its documented status; `message` replaces the default message. */
export function s3Error(
  code: S3ErrorCode,
  message?: string,
  options: { details?: Readonly<Record<string, string>>; cause?: unknown } = {},
): S3Error {
  const [status, standing] = errorCatalog[code];
  return new S3Error(code, status, message ?? standing, options);
}

const declaration = '<?xml version="1.0" encoding="UTF-8"?>\n';

/** Characters of what a caller sent, which anybody may have answered. */
const maxEcho = 1024;

const echoed = (text: string): string => (text.length > maxEcho ? `${text.slice(0, maxEcho)}…` : text);

/** S3's `<Error>` document. `resource` is the requested path. */
export function errorXml(error: S3Error, context: { resource: string; requestId: string }): string {
  return declaration + errorElement(error, context);
}

/** The document without XML declaration, for a response whose declaration was already sent. */
export function errorElement(error: S3Error, context: { resource: string; requestId: string }): string {
  const details = Object.entries(error.details).map(([name, value]) => element(name, echoed(value)));
  const body = [
    element('Code', error.code),
    element('Message', echoed(error.message)),
    ...details,
    element('Resource', echoed(context.resource)),
    element('RequestId', context.requestId),
  ];
  return `<Error>${body.join('')}</Error>`;
}
