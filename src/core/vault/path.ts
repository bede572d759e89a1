import { trimSlashes } from './trim-slashes.ts';

/**
 * Joins and encodes a path below `/v1/`. A mount may have several segments
 * (`auth/kubernetes`), which a slash in it separates; any other part is one segment.
 * @throws RangeError for an empty segment, `.` or `..`, which servers would resolve.
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

/** True for a path that goes on the wire as it is: encoded segments, no query, nothing a server would resolve. */
export function isEncodedPath(path: string): boolean {
  return encodedPath.test(path) && !path.split('/').some((segment) => segment === '.' || segment === '..');
}
