/** What a region's name looks like. */
export const regionName = /^[a-z0-9-]{2,32}$/;

/** What S3-compatible stores and the AWS SDK expect where nobody names a region. */
export const unnamedRegion = 'us-east-1';

/** Where a service of AWS is in a region; China has a domain of its own. */
export function regionalEndpoint(service: 's3' | 'sts', region: string): URL {
  const suffix = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  return new URL(`https://${service}.${region}.${suffix}`);
}
