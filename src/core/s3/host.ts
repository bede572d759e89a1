import { s3Error } from './error-catalog.ts';

/** `uri-host [":" port]` without user information; names with the characters that buckets have. */
const form = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?$/;
const underLocalhost = /^(.+)\.localhost$/i;

/**
 * The name or address in a `Host`, without port and without the dot of the root; IPv6 in brackets.
 * @throws S3Error InvalidRequest for what two readers could take for different hosts
 */
export function hostName(host: string): string {
  const name = form.exec(host)?.[1];
  if (name === undefined)
    throw s3Error('InvalidRequest', 'The Host header is not a host with an optional port.');
  return name.endsWith('.') ? name.slice(0, -1) : name;
}

/** The bucket of a host name such as `bucket.localhost`, or undefined for every other host. */
export const virtualHostBucket = (name: string): string | undefined => underLocalhost.exec(name)?.[1];
