import type { IncomingHttpHeaders } from 'node:http';
import { s3Error } from '../../../core/s3/error-catalog.ts';
import { withoutAwsChunked } from '../../../core/s3/headers.ts';
import { maxUserMetadata, userMetadataSize } from '../../../core/s3/metadata.ts';
import type { Description } from './model.ts';
import { parseTagHeader } from './tags.ts';

const kept = new Set([
  'cache-control',
  'content-disposition',
  'content-language',
  'content-type',
  'expires',
  'x-amz-storage-class',
  'x-amz-website-redirect-location',
]);

/** What the headers of a write say about the object. @throws S3Error MetadataTooLarge, InvalidArgument */
export function describeObject(headers: IncomingHttpHeaders): Description {
  if (userMetadataSize(headers) > maxUserMetadata) throw s3Error('MetadataTooLarge');
  const encoding = withoutAwsChunked(headers['content-encoding']);
  const own: Record<string, string> = { 'content-type': 'binary/octet-stream' };
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string' && (kept.has(name) || name.startsWith('x-amz-meta-'))) own[name] = value;
  }
  if (encoding !== undefined) own['content-encoding'] = encoding;
  return { headers: own, tags: parseTagHeader(headers['x-amz-tagging']) };
}
