import { regionalEndpoint, regionName, unnamedRegion } from '../../core/s3/aws-endpoint.ts';
import { matching } from '../../core/settings/parsers.ts';
import type { Resolved, Settings } from '../../core/settings/setting.ts';
import { httpUrl } from '../../core/settings/url.ts';

/** Where the object store is; said alike to the proxy and to the commands that look at its store. */
export const storeSettings = {
  upstream: {
    variable: 'SVC_PROXY_UPSTREAM',
    flag: 'upstream',
    summary: "Object store behind the proxy; unset: the region's S3 endpoint",
    ...httpUrl('https://s3.example.eu'),
  },
  region: {
    variable: 'AWS_REGION',
    flag: 'region',
    summary: 'Region of the object store',
    ...matching(regionName, 'a region such as eu-central-1'),
  },
  defaultRegion: {
    variable: 'AWS_DEFAULT_REGION',
    summary: 'Region where AWS_REGION is not set',
    ...matching(regionName, 'a region such as eu-central-1'),
  },
  reservedPrefix: {
    variable: 'SVC_PROXY_RESERVED_PREFIX',
    flag: 'reserved-prefix',
    summary: "Keys of the proxy's own helper objects begin with it; callers cannot use it",
    fallback: '.svc/',
    ...matching(/^(?!\.{1,2}\/)[\w.-]{1,64}\/$/, 'one path segment with a slash at its end, such as .svc/'),
  },
} satisfies Settings;

export interface StoreAddress {
  /** Base URL; path-style requests go below it. */
  readonly upstream: URL;
  readonly region: string;
}

export function storeOf(
  settings: Pick<Resolved<typeof storeSettings>, 'upstream' | 'region' | 'defaultRegion'>,
): StoreAddress {
  const region = settings.region ?? settings.defaultRegion ?? unnamedRegion;
  return { upstream: settings.upstream ?? regionalEndpoint('s3', region), region };
}
