import { matchCredentials } from '../../core/image/match-credentials.ts';
import type { ImageReference } from '../../core/image/reference.ts';
import type { RegistryCredential } from '../../core/image/registry-credential.ts';
import { type Endpoint, endpointsFor } from './endpoint.ts';
import type { Mirrors } from './mirrors.ts';

/** One way to read a repository: where, and as whom. */
export interface Access {
  readonly endpoint: Endpoint;
  /** Undefined: as anybody. */
  readonly credential: RegistryCredential | undefined;
}

/** More that fit one registry are not tried: the kubelet would not get through them in time either. */
const mostCredentials = 16;

/**
 * All ways to read an image, in the order to try them: mirrors first, at each place the credentials that are for it,
 * then as anybody. A mirror is never shown what is for the registry.
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
