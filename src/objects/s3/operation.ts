import { foldedName } from '../format/metadata.ts';
import { type S3Error, type S3ErrorCode, s3Error } from './error.ts';
import type { S3Request } from './request.ts';

/**
 * Determines the operation that a request asks for. Anything that could carry a caller's body into the store is
 * rejected, unless the operation encrypts or is a known configuration request.
 */
export function classify(request: Subject): Classified {
  if (hasRepeatedName(request)) return refuse('InvalidRequest', 'A query parameter is repeated.');
  if (namesStraySource(request))
    return refuse('InvalidArgument', 'You can only specify a copy source header for copy requests.', {
      ArgumentName: 'x-amz-copy-source',
      ArgumentValue: String(request.headers['x-amz-copy-source']),
    });
  if (request.key !== '') return objectOperation(request);
  if (request.bucket !== '') return bucketOperation(request);
  return serviceOperation(request);
}

function hasRepeatedName({ query }: Subject): boolean {
  if (query.entries.length < 2) return false;
  return new Set(query.entries.map(([name]) => name)).size < query.entries.length;
}

function namesStraySource({ method, query, headers }: Subject): boolean {
  if (headers['x-amz-copy-source'] === undefined) return false;
  return method === 'POST' ? query.has('uploadId') : method !== 'PUT' && method !== 'OPTIONS';
}

function serviceOperation({ method }: Subject): Classified {
  if (method === 'GET') return { name: 'ListBuckets' };
  return method === 'HEAD' || method === 'OPTIONS' ? passThrough : notAllowed(method, 'SERVICE');
}

/** Configuration subresources of a bucket, whose bodies never contain objects. */
const configuration = [
  'acl',
  'cors',
  'lifecycle',
  'policy',
  'versioning',
  'tagging',
  'object-lock',
  'encryption',
  'notification',
  'ownershipControls',
  'publicAccessBlock',
  'replication',
  'website',
  'logging',
  'requestPayment',
  'accelerate',
  'analytics',
  'inventory',
  'metrics',
  'intelligent-tiering',
];

/** Read-only subresources. */
const information = ['location', 'policyStatus'];

function bucketOperation(request: Subject): Classified {
  switch (request.method) {
    case 'GET':
      return get(request);
    case 'PUT':
    case 'DELETE':
      return change(request);
    case 'POST':
      return post(request);
    case 'HEAD':
    case 'OPTIONS':
      return passThrough;
    default:
      return notAllowed(request.method, 'BUCKET');
  }
}

/** Without parameters: creates or deletes the bucket. */
function change(request: Subject): Classified {
  if (onlyParameters(request)) return request.method === 'DELETE' ? { name: 'DeleteBucket' } : passThrough;
  const known = configuration.some((name) => request.query.has(name) && onlyParameters(request, name, 'id'));
  return known ? passThrough : notImplemented(`This sub-resource of ${request.method}`);
}

function post(request: Subject): Classified {
  if (request.query.has('delete') && onlyParameters(request, 'delete')) return { name: 'DeleteObjects' };
  return notImplemented('This POST to a bucket');
}

function get({ query }: Subject): Classified {
  if (query.has('uploads')) return { name: 'ListMultipartUploads' };
  if (query.has('versions')) return { name: 'ListObjectVersions' };
  if (configuration.some((name) => query.has(name)) || information.some((name) => query.has(name)))
    return passThrough;
  if (query.has('session')) return refuse('NotImplemented', 'Session authentication is not implemented.');
  return { name: query.get('list-type') === '2' ? 'ListObjectsV2' : 'ListObjects' };
}

export type OperationName =
  | 'PutObject'
  | 'GetObject'
  | 'HeadObject'
  | 'DeleteObject'
  | 'DeleteObjects'
  | 'CopyObject'
  | 'CreateMultipartUpload'
  | 'UploadPart'
  | 'UploadPartCopy'
  | 'CompleteMultipartUpload'
  | 'AbortMultipartUpload'
  | 'ListParts'
  | 'ListMultipartUploads'
  | 'ListObjects'
  | 'ListObjectsV2'
  | 'ListObjectVersions'
  | 'GetObjectAttributes'
  | 'ListBuckets'
  | 'DeleteBucket'
  | 'PassThrough';

/** `bodyCheck`: the body must pass `checkRestoreBody` before it is forwarded. */
export type Classified =
  | { readonly name: OperationName; readonly bodyCheck?: 'restore' }
  | { readonly name: 'Refused'; readonly error: S3Error };

/** Input of the classification; headers after `mergeHoisted`. */
type Subject = Pick<S3Request, 'method' | 'bucket' | 'key' | 'query' | 'headers'>;

const passThrough: Classified = { name: 'PassThrough' };

function refuse(
  code: S3ErrorCode,
  message?: string,
  details: Readonly<Record<string, string>> = {},
): Classified {
  return { name: 'Refused', error: s3Error(code, message, { details }) };
}

function notAllowed(Method: string, ResourceType: 'SERVICE' | 'BUCKET' | 'OBJECT' | 'UPLOAD'): Classified {
  return refuse('MethodNotAllowed', undefined, { Method, ResourceType });
}

function notImplemented(what: string): Classified {
  return refuse(
    'NotImplemented',
    `${what} would bypass encryption or is not known here, and is not implemented.`,
  );
}

/** Whether all of the request's parameters are in the list; AWS SDKs add a meaningless `x-id`. */
function onlyParameters({ query }: Subject, ...allowed: string[]): boolean {
  return query.entries.every(([name]) => name === 'x-id' || allowed.includes(name));
}

/** Subresources whose bodies configure an object and never contain its data. */
const objectConfiguration = ['acl', 'tagging', 'retention', 'legal-hold'];

const emptyBodyWanted =
  'The request included a body. Requests of this type must not include a non-empty body.';

/** Headers that make a store use a body differently than as the object's new content. */
const divertingHeaders = new Set([
  'x-amz-write-offset-bytes',
  'x-amz-rename-source',
  'x-amz-meta-snowball-auto-extract',
]);

function objectOperation(request: Subject): Classified {
  switch (request.method) {
    case 'PUT':
      return put(request);
    case 'POST':
      return postObject(request);
    case 'GET':
      return getObject(request);
    case 'HEAD':
      return { name: 'HeadObject' };
    case 'DELETE':
      return remove(request);
    case 'OPTIONS':
      return passThrough;
    default:
      return notAllowed(request.method, 'OBJECT');
  }
}

function put(request: Subject): Classified {
  const { query, headers } = request;
  const diverting = Object.keys(headers).find((name) => divertingHeaders.has(foldedName(name)));
  if (diverting) return notImplemented(`The header ${diverting}`);
  if (isConfiguration(request)) return passThrough;
  if (!onlyParameters(request, 'partNumber', 'uploadId')) return notImplemented('This sub-resource of PUT');
  if (query.has('partNumber') !== query.has('uploadId')) return halfAPart(query.has('partNumber'));
  const copies = headers['x-amz-copy-source'] !== undefined;
  if (copies && hasBody(request)) return refuse('InvalidRequest', emptyBodyWanted);
  if (query.has('uploadId')) return { name: copies ? 'UploadPartCopy' : 'UploadPart' };
  return { name: copies ? 'CopyObject' : 'PutObject' };
}

function halfAPart(hasNumber: boolean): Classified {
  if (!hasNumber) return notAllowed('PUT', 'UPLOAD');
  return refuse('InvalidArgument', 'This operation does not accept partNumber without uploadId', {
    ArgumentName: 'partNumber',
    ArgumentValue: 'partNumber',
  });
}

function isConfiguration(request: Subject): boolean {
  return objectConfiguration.some(
    (name) => request.query.has(name) && onlyParameters(request, name, 'versionId'),
  );
}

function hasBody({ headers }: Subject): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0;
}

function postObject(request: Subject): Classified {
  const { query } = request;
  if (query.has('uploads') && query.has('uploadId'))
    return refuse('InvalidRequest', 'Both uploads and uploadId.');
  if (query.has('uploads') && onlyParameters(request, 'uploads')) return { name: 'CreateMultipartUpload' };
  if (query.has('uploadId') && onlyParameters(request, 'uploadId'))
    return { name: 'CompleteMultipartUpload' };
  if (query.has('restore') && onlyParameters(request, 'restore', 'versionId')) {
    return { name: 'PassThrough', bodyCheck: 'restore' };
  }
  return onlyParameters(request) ? notAllowed('POST', 'OBJECT') : notImplemented('This POST to an object');
}

function getObject(request: Subject): Classified {
  const { query } = request;
  if (query.has('uploadId')) return { name: 'ListParts' };
  if (query.has('attributes')) return { name: 'GetObjectAttributes' };
  if (objectConfiguration.some((name) => query.has(name))) return passThrough;
  if (query.has('uploads'))
    return refuse('InvalidRequest', 'Key is not expected for the GET method ?uploads subresource');
  if (query.has('versions'))
    return refuse('InvalidRequest', 'There is no such thing as the ?versions sub-resource for a key');
  if (query.has('torrent')) return refuse('NotImplemented', 'Torrents would give out ciphertext.');
  return { name: 'GetObject' };
}

function remove(request: Subject): Classified {
  const { query, headers } = request;
  if (onlyParameters(request, 'versionId')) return { name: 'DeleteObject' };
  if (headers['x-amz-if-match-size'] !== undefined)
    return refuse('NotImplemented', 'A condition on the stored size.');
  if (query.has('uploadId') && onlyParameters(request, 'uploadId')) return { name: 'AbortMultipartUpload' };
  if (query.has('tagging') && onlyParameters(request, 'tagging', 'versionId')) return passThrough;
  return notImplemented('This sub-resource of DELETE');
}
