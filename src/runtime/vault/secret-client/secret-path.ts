import { vaultPath } from '../../../core/vault/path.ts';
import { VaultError } from '../errors.ts';

/** Where a secret is: the store that holds it and its name there. */
export interface SecretPlace {
  readonly kvVersion: 1 | 2;
  /** Below `/v1/`, encoded. */
  readonly apiPath: string;
}

/**
 * The segments of a path, `v1/` of the API's own form left out.
 * @throws VaultError of kind `not-found` for what cannot be a path
 */
export function segmentsOf(path: string): string[] {
  const segments = path.replace(/^\/+|\/+$/g, '').split('/');
  const bare = segments[0] === 'v1' && segments.length > 2 ? segments.slice(1) : segments;
  if (bare.length < 2 || bare.some((one) => one === '' || one === '.' || one === '..')) throw unusable(path);
  return bare;
}

/** In version 2, `data` behind the mount is the API's own form, and not part of the name. */
export function placeIn(
  mount: readonly string[],
  kvVersion: 1 | 2,
  segments: readonly string[],
): SecretPlace {
  const name = segments.slice(mount.length);
  const [first, ...others] = name;
  const bare = kvVersion === 2 && first === 'data' && others.length > 0 ? others : name;
  if (bare.length === 0) throw unusable(segments.join('/'));
  return { kvVersion, apiPath: vaultPath(mount.join('/'), ...(kvVersion === 2 ? ['data'] : []), ...bare) };
}

/** Where it may be in a server that does not tell: the API's form of version 2 tells the mount, else it is one segment. */
export function guessedPlaces(segments: readonly string[]): SecretPlace[] {
  const data = segments.indexOf('data', 1);
  const depth = data > 0 && data < segments.length - 1 ? data : 1;
  return [
    placeIn(segments.slice(0, depth), 2, segments),
    { kvVersion: 1, apiPath: vaultPath(segments[0] ?? '', ...segments.slice(1)) },
  ];
}

function unusable(path: string): VaultError {
  return new VaultError('not-found', `${JSON.stringify(path)} is not the path of a secret`, {
    path,
    nextStep: 'Write it as mount and name, such as secret/app.',
  });
}
