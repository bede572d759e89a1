import {
  type Classified,
  notImplemented,
  onlyParameters,
  passThrough,
  refuse,
  type Subject,
} from './operation-types.ts';

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

export function bucketOperation(request: Subject): Classified {
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
