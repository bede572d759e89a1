import { objectOperation } from './operation-object.ts';
import {
  type Classified,
  notImplemented,
  onlyParameters,
  passThrough,
  refuse,
  type Subject,
} from './operation-types.ts';

export type { Classified, OperationName } from './operation-types.ts';

/**
 * Names the operation that a request asks for. Whatever could carry a caller's body into the store is refused
 * unless it is an operation that encrypts or is on the list of configuration requests.
 */
export function classify(request: Subject): Classified {
  if (hasRepeatedName(request)) return refuse('InvalidRequest', 'A query parameter is repeated.');
  if (request.key !== '') return objectOperation(request);
  if (request.bucket !== '') return bucketOperation(request);
  return serviceOperation(request);
}

function hasRepeatedName({ query }: Subject): boolean {
  if (query.entries.length < 2) return false;
  return new Set(query.entries.map(([name]) => name)).size < query.entries.length;
}

function serviceOperation({ method }: Subject): Classified {
  if (method === 'GET') return { name: 'ListBuckets' };
  return method === 'HEAD' || method === 'OPTIONS' ? passThrough : refuse('MethodNotAllowed');
}

/** Configuration sub-resources of a bucket: their bodies never hold objects. */
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

/** Read-only sub-resources. */
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
      return refuse('MethodNotAllowed');
  }
}

/** No parameter: create or delete the bucket. */
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
