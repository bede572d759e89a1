import type { CreatedConfig } from '../../../cluster/injection/protected-pods.ts';
import { givenAnnotations } from '../../../cluster/injection/resolve/annotations.ts';
import type { KubeClient, KubeObject } from '../../../cluster/kube/client.ts';
import { KeptRoom } from '../../../cluster/kube/kept-room.ts';
import type { TooLarge } from '../../../cluster/kube/known-objects.ts';
import { selects } from '../../../cluster/kube/labels.ts';
import { listAll } from '../../../cluster/kube/list.ts';
import { markSecretMapping, markServiceConfig } from '../../../cluster/kube/marks.ts';
import { projectSecretMapping, projectServiceConfig } from '../../../cluster/kube/project-objects.ts';
import { apiVersion, type SecretMappingSpec } from '../../../cluster/resources/resources.ts';
import { Budget } from '../../../runtime/bounds/budget.ts';
import { exitStatus, SvcError } from '../../../runtime/errors.ts';
import { within } from '../../../runtime/lifecycle/wait.ts';
import {
  type ConfigIndexes,
  type KnownSecretMapping,
  type KnownServiceConfig,
  maxConfigs,
} from '../cluster-view.ts';
import type { AdmissionRequest } from './review.ts';

export interface Configs {
  readonly serviceConfigs: readonly CreatedConfig[];
  readonly secretMappings: ReadonlyMap<string, SecretMappingSpec & TooLarge>;
}

/** Configurations as the API server has them now. */
export interface CurrentConfigs {
  readonly serviceConfigs: ReadNow<KnownServiceConfig>;
  readonly secretMappings: ReadNow<KnownSecretMapping>;
}

/** @throws KubeError, or SvcError if the namespace has more than `maxConfigs` */
type ReadNow<T> = (namespace: string, signal: AbortSignal) => Promise<readonly T[]>;

/** Lists of a kind at the same time, and the room that one is read into: a namespace gets half of it. */
const maxLists = 2;
const listRoom = 2 * 1024 * 1024;
const listTimeoutMs = 10_000;

export function createCurrentConfigs(client: KubeClient): CurrentConfigs {
  return {
    serviceConfigs: shared(client, 'serviceconfigs', projectServiceConfig, markServiceConfig),
    secretMappings: shared(client, 'secretmappings', projectSecretMapping, markSecretMapping),
  };
}

/** Reviews of a namespace share the next list that has not begun: one that has may miss what was just created. */
function shared<O extends KubeObject, T>(
  client: KubeClient,
  plural: string,
  project: (object: O) => T,
  mark: (value: T) => T,
): ReadNow<T> {
  const places = new Budget(maxLists);
  const next = new Map<string, Promise<readonly T[]>>();
  const begin = async (namespace: string): Promise<readonly T[]> => {
    const place = places.ask(1);
    await place.granted;
    next.delete(namespace);
    const room = new KeptRoom(listRoom);
    const found: T[] = [];
    const keep = (value: T, isOutline: boolean) => {
      if (found.length === maxConfigs) throw tooMany(namespace, plural);
      const fits = !isOutline && room.take(namespace, value) !== undefined;
      found.push(fits ? value : mark(value));
    };
    const keepWhole = (object: O) => keep(project(object), false);
    const keepOutline = (outline: O) => keep(project(outline), true);
    const path = `/apis/${apiVersion}/namespaces/${encodeURIComponent(namespace)}/${plural}`;
    try {
      const signal = AbortSignal.timeout(listTimeoutMs);
      await listAll<O>(client, { path }, keepWhole, signal, keepOutline);
      return found;
    } finally {
      place.release();
    }
  };
  return (namespace, signal) => {
    const list = next.get(namespace) ?? begin(namespace);
    next.set(namespace, list);
    return within(list, performance.now() + listTimeoutMs, signal, () => notRead(namespace, plural));
  };
}

function tooMany(namespace: string, plural: string): SvcError {
  return new SvcError('CONFIGS_TOO_MANY', `Namespace ${namespace} has more than ${maxConfigs} ${plural}`, {
    nextStep: 'Delete those that are not in use.',
    exitStatus: exitStatus.config,
  });
}

function notRead(namespace: string, plural: string): SvcError {
  return new SvcError(
    'CONFIGS_NOT_READ',
    `The ${plural} of namespace ${namespace} could not be read in time`,
    {
      nextStep: 'Create the pod again.',
      exitStatus: exitStatus.unavailable,
    },
  );
}

interface Deps {
  readonly current: CurrentConfigs;
  readonly indexes: ConfigIndexes;
}

/**
 * The configurations of the pod's namespace. For pods without annotations the API server calls the webhook only in
 * namespaces of protected pods. If no known ServiceConfig applies to such a pod, the watch may be late or hang, so the
 * API server is asked. The namespace's label does not count, because it may be equally stale.
 * @throws KubeError, SvcError
 */
export async function serviceConfigsIn(
  { pod, namespace }: AdmissionRequest,
  { current, indexes: { serviceConfigs, secretMappings } }: Deps,
  signal: AbortSignal,
): Promise<Configs> {
  if (serviceConfigs.count(namespace) > maxConfigs) throw tooMany(namespace, 'serviceconfigs');
  if (secretMappings.count(namespace) > maxConfigs) throw tooMany(namespace, 'secretmappings');
  const known = [...serviceConfigs.in(namespace)];
  const applies = known.some(({ spec }) => selects(spec.selector, pod.metadata.labels));
  const ask = !applies && Object.keys(givenAnnotations(pod)).length === 0;
  return {
    serviceConfigs: ask ? await current.serviceConfigs(namespace, signal) : known,
    secretMappings: specsByName(secretMappings.in(namespace)),
  };
}

/** The same, read from the API server: the watch may not have delivered objects created just before the pod. */
export async function configsOfNow(
  { namespace }: AdmissionRequest,
  { current }: Pick<Deps, 'current'>,
  signal: AbortSignal,
): Promise<Configs> {
  const [serviceConfigs, mappings] = await Promise.all([
    current.serviceConfigs(namespace, signal),
    current.secretMappings(namespace, signal),
  ]);
  return { serviceConfigs, secretMappings: specsByName(mappings) };
}

const specsByName = (mappings: Iterable<KnownSecretMapping>) =>
  new Map(Array.from(mappings, ({ name, spec }) => [name, spec] as const));
