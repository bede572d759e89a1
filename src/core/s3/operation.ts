import { bucketOperation } from './operation-bucket.ts';
import { objectOperation } from './operation-object.ts';
import { type Classified, passThrough, refuse, type Subject } from './operation-types.ts';

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
