import { managedBy } from '../../../core/kubernetes/ownership.ts';
import type { KubeClient } from '../../../runtime/kube/client.ts';
import { member } from '../../../runtime/kube/objects.ts';
import { readObject } from '../../../runtime/kube/read-object.ts';

export interface KeptSecret {
  /** Texts by their keys. */
  readonly data: Readonly<Record<string, string>>;
  /** As the API server has it; undefined where there is none. */
  readonly object: object | undefined;
}

/** One Secret that the operator keeps. Writes succeed only over what was read. */
export interface SecretStore {
  readonly name: string;
  /** @throws KubeError */
  read(): Promise<KeptSecret>;
  /** All its data anew. @throws KubeError KUBE_CONFLICT where somebody else has written since */
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

/** The data of a Secret as texts; what is no text is left out. */
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
