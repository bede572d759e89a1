import type { Identity } from '../../../runtime/tls/identity.ts';
import { bundleOf } from '../../../runtime/tls/pem.ts';

/** All that replicas share: who signs, who signed before, and what is served. */
export interface AuthorityState {
  readonly authority: Identity;
  /** PEM of the certificate of the authority before, while something that it signed may be in use. */
  readonly previous: string | undefined;
  readonly server: Identity;
}

/** The same as it was stored: any of it may be missing or unreadable. */
export type StoredState = { readonly [name in keyof AuthorityState]: AuthorityState[name] | undefined };

export const nothingStored: StoredState = { authority: undefined, previous: undefined, server: undefined };

/** PEM of the authorities that certificates may come from now. */
export function authoritiesOf({ authority, previous }: StoredState): string {
  return bundleOf(authority?.cert ?? '', previous ?? '');
}

/** Keys of the Secret, and what each holds. */
export function toData({ authority, previous, server }: AuthorityState): Readonly<Record<string, string>> {
  return {
    'ca.crt': authority.cert,
    'ca.key': authority.key,
    ...(previous === undefined ? {} : { 'previous-ca.crt': previous }),
    'tls.crt': server.cert,
    'tls.key': server.key,
  };
}

export function fromData(data: Readonly<Record<string, string>>): StoredState {
  return {
    authority: identityIn(data, 'ca'),
    previous: data['previous-ca.crt'],
    server: identityIn(data, 'tls'),
  };
}

/** `<name>.crt` and `<name>.key`; one that is missing is as an empty one, which cannot be read. */
export function identityIn(data: Readonly<Record<string, string>>, name: 'ca' | 'tls'): Identity | undefined {
  const { [`${name}.crt`]: cert, [`${name}.key`]: key } = data;
  return cert === undefined && key === undefined ? undefined : { cert: cert ?? '', key: key ?? '' };
}
