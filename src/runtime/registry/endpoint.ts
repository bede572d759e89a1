import type { ImageReference } from '../../core/image/reference.ts';
import { isLoopback } from '../../core/settings/listen-address.ts';
import { type Mirrors, mirrorPlace } from './mirrors.ts';

/** One place where a repository can be read. */
export interface Endpoint {
  readonly origin: URL;
  /** Of the repository there. */
  readonly repository: string;
  /** Registry and repository as pull secrets name them. */
  readonly name: string;
  /** What it mirrors. */
  readonly mirrorOf: string | undefined;
}

/** Docker Hub answers under another name than it is called by. */
const hosts: Readonly<Record<string, string>> = { 'docker.io': 'registry-1.docker.io' };

/** The mirrors of a registry, then itself: by HTTPS, on this machine by plain HTTP. */
export function endpointsFor({ registry, repository }: ImageReference, mirrors: Mirrors): Endpoint[] {
  const found = mirrors.get(registry) ?? [];
  return [
    ...found.map((url) => mirrorEndpoint(url, registry, repository)),
    { origin: originOf(registry), repository, name: `${registry}/${repository}`, mirrorOf: undefined },
  ];
}

function mirrorEndpoint(url: URL, registry: string, repository: string): Endpoint {
  const name = `${mirrorPlace(url)}/${repository}`;
  return {
    ...{ origin: new URL(url.origin), name, mirrorOf: registry },
    repository: name.slice(url.host.length + 1),
  };
}

function originOf(registry: string): URL {
  const host = Object.hasOwn(hosts, registry) ? hosts[registry] : registry;
  const secure = new URL(`https://${host}`);
  return isLoopback(secure.hostname) ? new URL(`http://${host}`) : secure;
}

/**
 * Whether what an endpoint says may lead there: by HTTPS, never with credentials in the URL, and to this machine only
 * where the endpoint is on it.
 */
export function mayLeadTo({ origin }: Endpoint, url: URL): boolean {
  if (url.username !== '' || url.password !== '') return false;
  if (isLoopback(url.hostname))
    return isLoopback(origin.hostname) && (url.protocol === 'http:' || url.protocol === 'https:');
  return url.protocol === 'https:';
}
