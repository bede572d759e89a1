import { foldedName } from '../envelope/metadata.ts';
import {
  type Classified,
  notImplemented,
  onlyParameters,
  passThrough,
  refuse,
  type Subject,
} from './operation-types.ts';

/** Sub-resources whose bodies are configuration of an object, never its data. */
const configuration = ['acl', 'tagging', 'retention', 'legal-hold'];

/** Headers by which a store takes a body otherwise than as the object's new content. */
const divertingHeaders = new Set([
  'x-amz-write-offset-bytes',
  'x-amz-rename-source',
  'x-amz-meta-snowball-auto-extract',
]);

export function objectOperation(request: Subject): Classified {
  switch (request.method) {
    case 'PUT':
      return put(request);
    case 'POST':
      return post(request);
    case 'GET':
      return get(request);
    case 'HEAD':
      return { name: 'HeadObject' };
    case 'DELETE':
      return remove(request);
    case 'OPTIONS':
      return passThrough;
    default:
      return refuse('MethodNotAllowed');
  }
}

function put(request: Subject): Classified {
  const { query, headers } = request;
  const diverting = Object.keys(headers).find((name) => divertingHeaders.has(foldedName(name)));
  if (diverting) return notImplemented(`The header ${diverting}`);
  if (isConfiguration(request)) return passThrough;
  if (!onlyParameters(request, 'partNumber', 'uploadId')) return notImplemented('This sub-resource of PUT');
  if (query.has('partNumber') !== query.has('uploadId')) {
    return refuse('InvalidRequest', 'A part needs both partNumber and uploadId.');
  }
  const copies = headers['x-amz-copy-source'] !== undefined;
  if (copies && hasBody(request)) return refuse('InvalidRequest', 'A copy request carries no body.');
  if (query.has('uploadId')) return { name: copies ? 'UploadPartCopy' : 'UploadPart' };
  return { name: copies ? 'CopyObject' : 'PutObject' };
}

function isConfiguration(request: Subject): boolean {
  return configuration.some((name) => request.query.has(name) && onlyParameters(request, name, 'versionId'));
}

function hasBody({ headers }: Subject): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0;
}

function post(request: Subject): Classified {
  const { query } = request;
  if (query.has('uploads') && query.has('uploadId'))
    return refuse('InvalidRequest', 'Both uploads and uploadId.');
  if (query.has('uploads') && onlyParameters(request, 'uploads')) return { name: 'CreateMultipartUpload' };
  if (query.has('uploadId') && onlyParameters(request, 'uploadId'))
    return { name: 'CompleteMultipartUpload' };
  if (query.has('restore') && onlyParameters(request, 'restore', 'versionId')) {
    return { name: 'PassThrough', bodyCheck: 'restore' };
  }
  return notImplemented('This POST to an object');
}

function get(request: Subject): Classified {
  const { query } = request;
  if (query.has('uploadId')) return { name: 'ListParts' };
  if (query.has('attributes')) return { name: 'GetObjectAttributes' };
  if (configuration.some((name) => query.has(name))) return passThrough;
  if (query.has('torrent')) return refuse('NotImplemented', 'Torrents would give out ciphertext.');
  return { name: 'GetObject' };
}

function remove(request: Subject): Classified {
  const { query, headers } = request;
  if (headers['x-amz-if-match-size'] !== undefined)
    return refuse('NotImplemented', 'A condition on the stored size.');
  if (onlyParameters(request, 'versionId')) return { name: 'DeleteObject' };
  if (query.has('uploadId') && onlyParameters(request, 'uploadId')) return { name: 'AbortMultipartUpload' };
  if (query.has('tagging') && onlyParameters(request, 'tagging', 'versionId')) return passThrough;
  return notImplemented('This sub-resource of DELETE');
}
