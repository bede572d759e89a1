import { readFileSync } from 'node:fs';
import { exitStatus, SvcError } from '../../runtime/errors.ts';
import { regionalEndpoint, regionName, unnamedRegion } from '../../runtime/net/aws-endpoint.ts';
import { httpUrl, matching, type Resolved, type Settings } from '../../runtime/settings/setting.ts';

/** The object store's address, for the proxy and for commands that access its store. */
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
    summary: 'Region if AWS_REGION is not set',
    ...matching(regionName, 'a region such as eu-central-1'),
  },
  reservedPrefix: {
    variable: 'SVC_PROXY_RESERVED_PREFIX',
    flag: 'reserved-prefix',
    summary: "Key prefix of the proxy's helper objects; callers cannot use it",
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

/**
 * PEM certificates of AWS_CA_BUNDLE, which replace Node's own, as in the AWS tools.
 * @throws SvcError if the file cannot be read
 */
export function trustedAuthorities(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const path = env.AWS_CA_BUNDLE;
  if (!path) return undefined;
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new SvcError('SVC_CA_BUNDLE', `AWS_CA_BUNDLE names ${path}, which cannot be read`, {
      nextStep: 'Point AWS_CA_BUNDLE to a readable PEM file, or unset it.',
      exitStatus: exitStatus.config,
      cause,
    });
  }
}
