import type { IncomingHttpHeaders } from 'node:http';
import { isReservedMetadata } from '../envelope/metadata.ts';

const kept = [
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-type',
  'expires',
  'x-amz-website-redirect-location',
];

/** What HEAD says of an object and a copy with `REPLACE` must repeat; the svc headers and the storage class are left out. */
export function storedHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value !== 'string') continue;
    const own = name.startsWith('x-amz-meta-') && !isReservedMetadata(name);
    if (own || kept.includes(name)) result[name] = value;
  }
  return result;
}
