import { ImageError } from './image-error.ts';
import type { RegistryCredential } from './registry-credential.ts';

interface Entry {
  readonly username?: unknown;
  readonly password?: unknown;
  readonly auth?: unknown;
}

/**
 * Credentials of a `.dockerconfigjson` (`{auths: {…}}`), in its order; entries without a user are left out.
 * @throws ImageError that quotes nothing of it
 */
export function readDockerConfigJson(text: string): RegistryCredential[] {
  const { auths = {} } = readObject(text) as { auths?: unknown };
  return readEntries(auths);
}

/** As `readDockerConfigJson`, of the older `.dockercfg`, which has the entries at its top. */
export function readDockercfg(text: string): RegistryCredential[] {
  return readEntries(readObject(text));
}

function readObject(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // the cause would quote the secret
  }
  throw new ImageError('it is no JSON object');
}

function readEntries(auths: unknown): RegistryCredential[] {
  if (auths === null) return [];
  if (!isObject(auths)) throw new ImageError('"auths" is no object');
  return Object.entries(auths).flatMap(([name, entry]) => {
    const key = credentialKey(name);
    const user = readUser(entry);
    return key === undefined || user === undefined ? [] : [{ key, ...user }];
  });
}

/** The kubelet takes no other member, an identity token neither. */
function readUser(entry: unknown): { username: string; password: string } | undefined {
  if (!isObject(entry)) throw new ImageError('an entry of it is no object');
  const { username = '', password = '', auth = '' } = entry as Entry;
  if (typeof username !== 'string' || typeof password !== 'string' || typeof auth !== 'string')
    throw new ImageError('a user name, password or auth of it is no text');
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

/** `https://host/v1/` and `host/` are `host`; undefined where it is no address at all. */
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
