/** Format of region names. */
export const regionName = /^[a-z0-9-]{2,32}$/;

/** Region that S3-compatible stores and the AWS SDK assume if none is named. */
export const unnamedRegion = 'us-east-1';

/** Endpoint of an AWS service in a region; China has its own domain. */
export function regionalEndpoint(service: 's3' | 'sts', region: string): URL {
  const suffix = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  return new URL(`https://${service}.${region}.${suffix}`);
}
