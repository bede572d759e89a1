import { exitStatus, messageOf, SvcError } from '../../core/errors.ts';
import { parseImageReference } from '../../core/image/reference.ts';
import { isLoopback } from '../../core/settings/listen-address.ts';
import { httpUrl } from '../../core/settings/url.ts';

/** Where the images of a registry are looked up first, in this order. */
export type Mirrors = ReadonlyMap<string, readonly URL[]>;

const url = httpUrl('https://mirror.example');

/**
 * Reads items such as `docker.io=https://mirror.example`; a path of the URL comes before the repository, as in
 * `docker.io=https://mirror.example/hub`. A registry may have several.
 * @throws SvcError (exit 78) that names every item that is wrong
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

/** A mirror as a reference begins there: `mirror.example/hub`. */
export function mirrorPlace(url: URL): string {
  const prefix = url.pathname.replace(/^\/v2(?=\/|$)/, '').replace(/^\/+|\/+$/g, '');
  return prefix === '' ? url.host : `${url.host}/${prefix}`;
}

function readItem(item: string): { registry: string; at: URL } {
  const equals = item.indexOf('=');
  if (equals < 0) throw new Error('there is no = between registry and URL');
  const name = item.slice(0, equals);
  const { registry, repository } = parseImageReference(`${name}/a/b`);
  if (repository !== 'a/b') throw new Error(`${name} is no registry`);
  const at = url.parse(item.slice(equals + 1));
  if (at.protocol === 'http:' && !isLoopback(at.hostname))
    throw new Error('a mirror that is not on this machine must have an https:// URL');
  return { registry, at };
}
