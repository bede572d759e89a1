import { parseBounded } from '../../runtime/bounds/bounded-json.ts';
import { ImageError } from './reference.ts';

interface Entry {
  readonly username?: unknown;
  readonly password?: unknown;
  readonly auth?: unknown;
}

/**
 * Credentials of a `.dockerconfigjson` (`{auths: {…}}`), in order; entries without a user are left out.
 * @throws ImageError that quotes nothing from the text
 */
export function readDockerConfigJson(text: string): RegistryCredential[] {
  const { auths = {} } = readObject(text) as { auths?: unknown };
  return readEntries(auths);
}

/** Like `readDockerConfigJson`, for the older `.dockercfg`, which has the entries at the top level. */
export function readDockercfg(text: string): RegistryCredential[] {
  return readEntries(readObject(text));
}

/** Values and names: some 1,000 registries. */
const maxParts = 10_000;

function readObject(text: string): object {
  try {
    const value = parseBounded(text, { maxParts, maxDepth: 3 });
    if (isObject(value)) return value;
  } catch {
    // a cause would quote the secret
  }
  throw new ImageError('it is not a JSON object');
}

function readEntries(auths: unknown): RegistryCredential[] {
  if (auths === null) return [];
  if (!isObject(auths)) throw new ImageError('"auths" is not an object');
  return Object.entries(auths).flatMap(([name, entry]) => {
    const key = credentialKey(name);
    const user = readUser(entry);
    return key === undefined || user === undefined ? [] : [{ key, ...user }];
  });
}

/** The kubelet uses no other members, not even an identity token. */
function readUser(entry: unknown): { username: string; password: string } | undefined {
  if (!isObject(entry)) throw new ImageError('an entry of it is not an object');
  const { username = '', password = '', auth = '' } = entry as Entry;
  if (typeof username !== 'string' || typeof password !== 'string' || typeof auth !== 'string')
    throw new ImageError('a user name, password or auth of it is not text');
  const user = auth === '' ? { username, password } : decodeAuth(auth);
  return user.username === '' && user.password === '' ? undefined : user;
}

/** Base64 of `user:password`, padded or not. */
function decodeAuth(auth: string): { username: string; password: string } {
  const bare = auth.replace(/[\r\n]/g, '');
  const isBase64 = /^[A-Za-z0-9+/]+={0,2}$/.test(bare) && bare.replace(/=+$/, '').length % 4 !== 1;
  const text = isBase64 ? Buffer.from(bare, 'base64').toString('utf8') : '';
  const colon = text.indexOf(':');
  if (colon < 0) throw new ImageError('an auth of it is not the base64 of user:password');
  return { username: text.slice(0, colon), password: text.slice(colon + 1) };
}

/** Normalizes `https://host/v1/` and `host/` to `host`; undefined unless it is an address. */
function credentialKey(name: string): string | undefined {
  const [, authority = '', path = ''] = /^(?:https?:\/\/)?([^/?#]*)([^?#]*)/.exec(name) ?? [];
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  if (!/^[^\s\\@[\]:]+(:\d*)?$|^\[[0-9A-Fa-f:.]+\](:\d*)?$/.test(host)) return undefined;
  const below = /^\/v[12]\//.test(path) ? path.slice('/v1'.length) : path;
  return below === '' || below === '/' ? host : host + below;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Key under which Docker stores a login to Docker Hub. */
const dockerHub = 'index.docker.io';

/**
 * The credentials for a repository without duplicates, the most specific first. Like the kubelet, in descending order
 * of keys, and with a login to Docker Hub only if nothing else matches.
 * Source: pkg/credentialprovider/keyring.go of Kubernetes
 * @param name registry and repository, `docker.io/library/nginx`
 */
export function matchCredentials(all: readonly RegistryCredential[], name: string): RegistryCredential[] {
  const matching = all.filter(({ key }) => matches(key, name));
  const forHub = name.startsWith('docker.io/') ? all.filter(({ key }) => key === dockerHub) : [];
  const found = matching.length > 0 ? matching : forHub;
  return unique(found.sort((a, b) => compareBytes(b.key, a.key)));
}

/** A glob matches within one component of the host; the path is a prefix, and ports must be equal. */
function matches(key: string, name: string): boolean {
  const wanted = split(key);
  const given = split(name);
  return (
    wanted.port === given.port &&
    wanted.parts.length === given.parts.length &&
    given.path.startsWith(wanted.path) &&
    wanted.parts.every((part, index) => matchesGlob(part, given.parts[index] ?? ''))
  );
}

function split(name: string): { parts: string[]; port: string; path: string } {
  const slash = name.indexOf('/');
  const authority = slash < 0 ? name : name.slice(0, slash);
  const [, host = authority, port = ''] = /^(\[.*\]|[^:]*)(?::(\d*))?$/.exec(authority) ?? [];
  return { parts: host.split('.'), port, path: slash < 0 ? '' : name.slice(slash) };
}

/** Matches the pieces between stars from the left, in linear time. */
function matchesGlob(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return pattern === text;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last))
    return false;
  const middle = text.slice(first.length, text.length - last.length);
  let at = 0;
  for (const piece of rest) {
    const found = middle.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return true;
}

function unique(credentials: readonly RegistryCredential[]): RegistryCredential[] {
  const seen = new Map(credentials.toReversed().map((each) => [`${each.username}\0${each.password}`, each]));
  return credentials.filter((each) => seen.get(`${each.username}\0${each.password}`) === each);
}

function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** A registry login from a pull secret. */
export interface RegistryCredential {
  /** Host with port and path that it applies to; `*` matches any component of the host: `*.example:5000/team`. */
  readonly key: string;
  readonly username: string;
  readonly password: string;
}
