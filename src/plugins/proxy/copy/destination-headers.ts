import { storedHeaders } from '../../../core/s3/stored-headers.ts';
import type { StoredObject } from '../read/object-reader.ts';
import { type CopyRequest, directive } from './copy-request.ts';

const metadataDirective = 'x-amz-metadata-directive';
const redirect = 'x-amz-website-redirect-location';
const descriptions = new Set([
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-type',
  'expires',
]);

/**
 * The destination's headers without an envelope: the source's metadata, or the caller's
 * under `REPLACE`. A redirect is never copied, as S3 has it.
 */
export function destinationHeaders(copy: CopyRequest, source: StoredObject): Record<string, string> {
  const { [metadataDirective]: asked, ...headers } = copy.headers;
  if (directive(copy.headers, metadataDirective) === 'REPLACE') return headers;
  const { [redirect]: own, ...stored } = storedHeaders(source.headers);
  return { ...Object.fromEntries(Object.entries(headers).filter(([name]) => !describes(name))), ...stored };
}

const describes = (name: string) => descriptions.has(name) || name.startsWith('x-amz-meta-');

/** Whether a copy onto itself changes anything; S3 refuses one that does not. */
export function changesSomething({ headers }: CopyRequest): boolean {
  if (directive(headers, metadataDirective) === 'REPLACE') return true;
  return Object.keys(headers).some(
    (name) => name === redirect || name === 'x-amz-storage-class' || name.startsWith('x-amz-server-side-'),
  );
}
