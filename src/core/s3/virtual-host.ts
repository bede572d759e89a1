const underLocalhost = /^([^:]+)\.localhost\.?(?::\d+)?$/i;

/** The bucket of a `Host` such as `bucket.localhost:8190`, or undefined for every other host. */
export function virtualHostBucket(host: string | undefined): string | undefined {
  return host === undefined ? undefined : underLocalhost.exec(host)?.[1];
}
