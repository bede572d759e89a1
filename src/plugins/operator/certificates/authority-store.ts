import { type KubeClient, member, readObject } from '../../../cluster/kube/client.ts';
import { managedBy } from '../../../cluster/kube/labels.ts';
import { bundleOf, type TlsIdentity } from '../../../runtime/net/certificates.ts';

interface KeptSecret {
  /** Texts by key. */
  readonly data: Readonly<Record<string, string>>;
  /** The object on the API server; undefined if there is none. */
  readonly object: object | undefined;
}

/** One Secret that the operator maintains. A write succeeds only if nobody else has written since the read. */
export interface SecretStore {
  readonly name: string;
  /** @throws KubeError */
  read(): Promise<KeptSecret>;
  /** Replaces all data. @throws KubeError KUBE_CONFLICT if somebody else has written since the read */
  write(read: KeptSecret, data: Readonly<Record<string, string>>): Promise<void>;
}

const labels = { ...managedBy, 'app.kubernetes.io/part-of': 'svc' };

export function createSecretStore(
  client: KubeClient,
  namespace: string,
  name: string,
  signal: AbortSignal,
): SecretStore {
  const collection = secretsPath(namespace);
  const path = `${collection}/${encodeURIComponent(name)}`;
  return {
    name,
    async read() {
      const object = await readObject<object>(client, path, signal);
      return { object, data: object === undefined ? {} : textsOf(object) };
    },
    async write({ object }, texts) {
      const data = encoded(texts);
      if (object === undefined) {
        const metadata = { namespace, name, labels };
        const body = { apiVersion: 'v1', kind: 'Secret', type: 'Opaque', metadata, data };
        await client.request({ method: 'POST', path: collection, body, signal });
      } else {
        const body = { ...object, metadata: labelled(object), data };
        await client.request({ method: 'PUT', path, body, signal });
      }
    },
  };
}

export function secretsPath(namespace: string): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets`;
}

/** The data of a Secret as text; values of other types are left out. */
export function textsOf(object: object): Readonly<Record<string, string>> {
  const entries = Object.entries(member(object, 'data'));
  const texts = entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return Object.fromEntries(texts.map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]));
}

function encoded(texts: Readonly<Record<string, string>>): object {
  const entries = Object.entries(texts);
  return Object.fromEntries(entries.map(([key, text]) => [key, Buffer.from(text).toString('base64')]));
}

function labelled(object: object): object {
  const metadata = member(object, 'metadata');
  return { ...metadata, labels: { ...member(metadata, 'labels'), ...labels } };
}

/** Where the state of the authority is kept. */
export interface AuthorityStore {
  /** The result becomes the state that this replica uses, and the base of the next write. @throws KubeError */
  read(): Promise<StoredState>;
  /** @throws KubeError KUBE_CONFLICT if somebody else has written since the last read */
  write(state: AuthorityState): Promise<void>;
}

/** In the Secret that all replicas read, including the leader: it holds exactly what is served. */
export function createSharedStore(secret: SecretStore): AuthorityStore {
  let read: KeptSecret = { data: {}, object: undefined };
  return {
    async read() {
      read = await secret.read();
      return fromData(read.data);
    },
    write: (state) => secret.write(read, toData(state)),
  };
}

/** State that replicas share: the signing authority, earlier ones, and the served certificate. */
export interface AuthorityState {
  readonly authority: TlsIdentity;
  /** PEM of the previous authority's certificate, while certificates that it signed may be in use. */
  readonly previous: string | undefined;
  readonly server: TlsIdentity;
}

/** The state as stored: any part may be missing or unreadable. */
export type StoredState = { readonly [name in keyof AuthorityState]: AuthorityState[name] | undefined };

export const nothingStored: StoredState = { authority: undefined, previous: undefined, server: undefined };

/** PEM of the authorities whose certificates may be in use now. */
export function authoritiesOf({ authority, previous }: StoredState): string {
  return bundleOf(authority?.cert ?? '', previous ?? '');
}

/** The Secret's data by key. */
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

/** `<name>.crt` and `<name>.key`; if only one is missing it counts as empty, which fails to parse later. */
export function identityIn(
  data: Readonly<Record<string, string>>,
  name: 'ca' | 'tls',
): TlsIdentity | undefined {
  const { [`${name}.crt`]: cert, [`${name}.key`]: key } = data;
  return cert === undefined && key === undefined ? undefined : { cert: cert ?? '', key: key ?? '' };
}
