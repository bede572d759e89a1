import { exitStatus, messageOf, SvcError } from '../../runtime/errors.ts';
import { httpUrl, isLoopback } from '../../runtime/settings/setting.ts';
import { type ImageReference, parseImageReference } from './reference.ts';
import { matchCredentials, type RegistryCredential } from './registry-credentials.ts';

/** A place where a repository can be read. */
export interface RegistryEndpoint {
  readonly origin: URL;
  /** Name of the repository at this place. */
  readonly repository: string;
  /** Registry and repository in the form of pull secrets. */
  readonly name: string;
  /** The mirrored registry, if this is a mirror. */
  readonly mirrorOf: string | undefined;
}

/** Docker Hub's API has a different host than its image references. */
const hosts: Readonly<Record<string, string>> = { 'docker.io': 'registry-1.docker.io' };

/** The mirrors of a registry, followed by the registry itself; HTTPS, except plain HTTP on this machine. */
export function endpointsFor({ registry, repository }: ImageReference, mirrors: Mirrors): RegistryEndpoint[] {
  const found = mirrors.get(registry) ?? [];
  return [
    ...found.map((url) => mirrorEndpoint(url, registry, repository)),
    { origin: originOf(registry), repository, name: `${registry}/${repository}`, mirrorOf: undefined },
  ];
}

function mirrorEndpoint(url: URL, registry: string, repository: string): RegistryEndpoint {
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
 * Whether an endpoint may redirect to a URL: only HTTPS, never with credentials in the URL, and to loopback only from
 * loopback.
 */
export function mayLeadTo({ origin }: RegistryEndpoint, url: URL): boolean {
  if (url.username !== '' || url.password !== '') return false;
  if (isLoopback(url.hostname))
    return isLoopback(origin.hostname) && (url.protocol === 'http:' || url.protocol === 'https:');
  return url.protocol === 'https:';
}

/** Mirrors to try before the registry, in order. */
export type Mirrors = ReadonlyMap<string, readonly URL[]>;

const url = httpUrl('https://mirror.example');

/**
 * Parses items such as `docker.io=https://mirror.example`; a path in the URL precedes the repository, as in
 * `docker.io=https://mirror.example/hub`. A registry may have several mirrors.
 * @throws SvcError (exit 78) that names every invalid item
 */
export function parseMirrors(items: readonly string[]): Mirrors {
  const mirrors = new Map<string, URL[]>();
  const details: string[] = [];
  for (const item of items) {
    try {
      const { registry, at } = readItem(item);
      mirrors.set(registry, [...(mirrors.get(registry) ?? []), at]);
    } catch (error) {
      details.push(`${item}: ${messageOf(error)}`);
    }
  }
  if (details.length === 0) return mirrors;
  throw new SvcError('REGISTRY_MIRRORS', 'Registry mirrors cannot be used', {
    details,
    nextStep: 'Write <registry>=<URL> items, such as docker.io=https://mirror.example.',
    exitStatus: exitStatus.config,
  });
}

/** The start of image references at a mirror: `mirror.example/hub`. */
export function mirrorPlace(url: URL): string {
  const prefix = url.pathname.replace(/^\/v2(?=\/|$)/, '').replace(/^\/+|\/+$/g, '');
  return prefix === '' ? url.host : `${url.host}/${prefix}`;
}

function readItem(item: string): { registry: string; at: URL } {
  const equals = item.indexOf('=');
  if (equals < 0) throw new Error('there is no = between registry and URL');
  const name = item.slice(0, equals);
  const { registry, repository } = parseImageReference(`${name}/a/b`);
  if (repository !== 'a/b') throw new Error(`${name} is not a registry`);
  const at = url.parse(item.slice(equals + 1));
  if (at.protocol === 'http:' && !isLoopback(at.hostname))
    throw new Error('a mirror that is not on this machine must have an https:// URL');
  return { registry, at };
}

/** One way to read a repository: a place and a user. */
export interface Access {
  readonly endpoint: RegistryEndpoint;
  /** Undefined: anonymous. */
  readonly credential: RegistryCredential | undefined;
}

/** Maximum number of credentials for a registry; the kubelet would not try more in time either. */
const mostCredentials = 16;

/**
 * All ways to read an image, in the order to try: mirrors first, and at each place first with its credentials, then
 * anonymously. A mirror never gets the registry's credentials.
 */
export function accessesTo(
  reference: ImageReference,
  mirrors: Mirrors,
  credentials: readonly RegistryCredential[],
): Access[] {
  return endpointsFor(reference, mirrors).flatMap((endpoint) => {
    const matching = matchCredentials(credentials, endpoint.name).slice(0, mostCredentials);
    return [...matching, undefined].map((credential) => ({ endpoint, credential }));
  });
}
