import { ImageError } from '../../../cluster/images/reference.ts';
import {
  type RegistryCredential,
  readDockerConfigJson,
  readDockercfg,
} from '../../../cluster/images/registry-credentials.ts';
import { hasCode, type KubeClient } from '../../../cluster/kube/client.ts';
import type { Pod } from '../../../cluster/kube/pod.ts';
import { Remembered } from '../../../runtime/bounds/bounded-map.ts';
import { cut } from '../../../runtime/bounds/foreign-text.ts';
import { FairTurns } from './fair-turns.ts';

const freshMs = 60_000;
const most = 500;
const maxObjectBytes = 512 * 1024;
const mostSecrets = 32;
/** Of all pods together: some megabytes are made of the largest. */
const readAtOnce = 4;
/** Characters of a Secret's data; what is made of longer ones is not kept. A registry takes 100 to 7,000. */
const maxKeptText = 16 * 1024;

/** A pod's credentials for registries. */
export interface PullCredentials {
  readonly credentials: readonly RegistryCredential[];
  /** Why some credentials are missing, each as a clause without secrets. */
  readonly problems: readonly string[];
}

/** The pull secrets of pods, read on demand and cached. */
export interface PullSecrets {
  /** The pod's own, then its service account's; a secret that cannot be read is a problem, not an error. */
  of(pod: Pod, namespace: string, age?: SecretsAge): Promise<PullCredentials>;
}

/** `anew`: read again even if cached, after they were refused. */
export type SecretsAge = 'kept' | 'anew';

interface SecretObject {
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
}

interface ServiceAccount {
  readonly imagePullSecrets?: readonly { readonly name?: string }[];
}

export interface PullSecretsOptions {
  readonly client: KubeClient;
  readonly signal: AbortSignal;
  /** In ms, monotonic. */
  readonly now: () => number;
}

export function createPullSecrets({ client, signal, now }: PullSecretsOptions): PullSecrets {
  const kept = new Remembered<unknown>(most, { mostMs: freshMs, now });
  const turns = new FairTurns(readAtOnce);
  const request = async (namespace: string, path: string) => {
    const end = await turns.take(namespace);
    try {
      return await client.request<object>({ path, signal, timeoutMs: 5_000, maxBytes: maxObjectBytes });
    } finally {
      end();
    }
  };
  const get = <T>(namespace: string, path: string, read: (object: object) => T, age: SecretsAge) => {
    const known = age === 'kept' ? kept.get(path) : undefined;
    if (known !== undefined) return known as Promise<never>;
    const reading = request(namespace, path).then((object) => {
      if (textLength(object) > maxKeptText) kept.forget(path);
      return read(object);
    });
    kept.keep(path, reading);
    return reading;
  };
  return {
    async of(pod, namespace, age = 'kept') {
      const path = (kind: string, name: string) => pathOf(namespace, kind, name);
      const account = path('serviceaccounts', pod.spec.serviceAccountName ?? 'default');
      const ofAccount = await get(namespace, account, secretNames, age).catch(nothing);
      const names = [...new Set([...secretNames(pod.spec), ...ofAccount])].slice(0, mostSecrets);
      const outcomes = await Promise.allSettled(
        names.map((name) => get(namespace, path('secrets', name), credentialsIn, age)),
      );
      signal.throwIfAborted();
      return gathered(names, outcomes);
    },
  };
}

function gathered(
  names: readonly string[],
  outcomes: readonly PromiseSettledResult<readonly RegistryCredential[]>[],
): PullCredentials {
  return {
    credentials: outcomes.flatMap((one) => (one.status === 'fulfilled' ? one.value : [])),
    problems: outcomes.flatMap((one, index) =>
      one.status === 'rejected' ? [`pull secret ${cut(names[index] ?? '')} ${problemOf(one.reason)}`] : [],
    ),
  };
}

function pathOf(namespace: string, kind: string, name: string): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/${kind}/${encodeURIComponent(name)}`;
}

function secretNames({ imagePullSecrets = [] }: ServiceAccount): string[] {
  return imagePullSecrets.slice(0, mostSecrets).flatMap(({ name }) => (name ? [name] : []));
}

function textLength({ data = {} }: SecretObject): number {
  return Object.values(data).reduce((sum, text) => sum + text.length, 0);
}

/** @throws ImageError for a Secret that is not a pull secret */
function credentialsIn({ type, data = {} }: SecretObject): readonly RegistryCredential[] {
  const json = data['.dockerconfigjson'];
  if (type === 'kubernetes.io/dockerconfigjson' && json) return readDockerConfigJson(decode(json));
  const older = data['.dockercfg'];
  if (type === 'kubernetes.io/dockercfg' && older) return readDockercfg(decode(older));
  throw new ImageError('it is not of a pull secret type');
}

function decode(base64: string): string {
  return Buffer.from(base64, 'base64').toString('utf8');
}

function problemOf(error: unknown): string {
  if (error instanceof ImageError) return `cannot be used: ${error.message}`;
  if (hasCode(error, 'KUBE_NOT_FOUND')) return 'does not exist';
  return 'could not be read';
}

/** An account that cannot be read adds nothing; the pod's own secrets may suffice. */
function nothing(): readonly string[] {
  return [];
}
