import { invalidValue, list, matching, type Parser } from '../runtime/settings/setting.ts';

/**
 * Joins and encodes a path below `/v1/`. A mount may have several segments, separated by slashes (`auth/kubernetes`);
 * any other argument is one segment.
 * @throws RangeError for an empty segment, `.` or `..`, which servers would resolve
 */
export function vaultPath(mount: string, ...segments: readonly string[]): string {
  return [...trimSlashes(mount).split('/'), ...segments].map(encodeSegment).join('/');
}

function encodeSegment(segment: string): string {
  if (segment === '' || segment === '.' || segment === '..') {
    throw new RangeError('A path of the key server has an empty or a dot segment');
  }
  return encodeURIComponent(segment);
}

const encodedPath =
  /^(?:[A-Za-z0-9\-._~!$&'()*+,;=:@]|%[0-9A-Fa-f]{2})+(?:\/(?:[A-Za-z0-9\-._~!$&'()*+,;=:@]|%[0-9A-Fa-f]{2})+)*\/?$/;

/** True for a path that can be sent unchanged: encoded segments, no query, nothing that a server would resolve. */
export function isEncodedPath(path: string): boolean {
  return encodedPath.test(path) && !path.split('/').some((segment) => segment === '.' || segment === '..');
}

/** Removes slashes at both ends in linear time; `\/+$` would be slow for slashes in the middle. */
function trimSlashes(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && text[from] === '/') from++;
  while (to > from && text[to - 1] === '/') to--;
  return text.slice(from, to);
}

/** A KV path such as `secret/app` or `secret/data/app`, without slashes at its ends. */
export function kvPath(): Parser<string> {
  const expects = 'a KV path such as secret/app';
  const parse = (given: string) => {
    const bare = trimSlashes(given);
    const segments = bare.split('/');
    const usable = segments.every((one) => /^[^\p{C}?#%\\]+$/u.test(one) && one !== '.' && one !== '..');
    return usable && segments.length > 1 ? bare : invalidValue(expects);
  };
  return { expects, parse };
}

export const kvPaths = (): Parser<readonly string[]> => list(kvPath());

/** Path of a mount without slashes at its ends, such as `auth/kubernetes`. */
export function mountPath(prefix: string): Parser<string> {
  const expects = `a path below ${prefix}, such as ${prefix}kubernetes`;
  const parse = (given: string) => {
    const bare = trimSlashes(given);
    const segments = bare.split('/');
    const usable = segments.every((one) => /^[\w.-]+$/.test(one) && !/^\.+$/.test(one));
    return usable && bare.startsWith(prefix) && segments.length > 1 ? bare : invalidValue(expects);
  };
  return { expects, parse };
}

/** Name of a role of an auth method. */
export const roleName = (): Parser<string> => matching(/^(?!\.{1,2}$)[\w.-]+$/, 'a role name');

/** Name of a key in the transit engine. */
export const transitKeyName = (): Parser<string> => matching(/^(?!\.{1,2}$)[\w.-]{1,128}$/, 'a key name');
