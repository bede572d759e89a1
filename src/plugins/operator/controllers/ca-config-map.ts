import { hash } from 'node:crypto';
import { hasProtectedPod, isExempt } from '../../../cluster/injection/protected-pods.ts';
import { apply, type KubeObject, unless } from '../../../cluster/kube/client.ts';
import {
  isLabelled,
  isOperators,
  managedBy,
  managedByUs,
  type OwnedMetadata,
} from '../../../cluster/kube/labels.ts';
import type { Health } from '../../../runtime/health/health.ts';
import { type Following, follow, protectionDiffers } from '../cluster-view.ts';
import type { OperatorDeps } from '../contract.ts';
import { type Authorities, authorityKeys } from './authority-files.ts';
import {
  type Controller,
  type ControllerDeps,
  commonOptions,
  type Indexes,
  type Reconciled,
  runController,
} from './run-controller.ts';

/** Mounted by protected pods, in each of their namespaces; has a key of `authorityKeys` for each file. */
export const caConfigMapName = 'svc-ca';

const name = caConfigMapName;
const foreignRetryMs = 5 * 60_000;

export interface CaConfigMapDeps extends ControllerDeps {
  readonly health: Health;
  readonly authorities: Authorities;
}

export interface CaConfigMapController extends Controller {
  /**
   * Whether somebody else's config map has this name and other authorities: pods would trust its author's servers.
   * Known on every replica.
   */
  isForeign(namespace: string): boolean;
}

/** Hands the private authorities of secrets server and object stores to each namespace whose pods may need them. */
export function startCaConfigMapController(deps: CaConfigMapDeps, indexes: Indexes): CaConfigMapController {
  const { cluster, authorities } = deps;
  const configMaps = followConfigMaps(deps, deps.health, name);
  // a config map stays ours even if somebody removes its labels
  const own = new Set<string>();
  configMaps.onChange(({ uid, ours }, _before, gone) => {
    if (gone) own.delete(uid);
    else if (ours) own.add(uid);
  });
  const isOurs = ({ uid, ours }: KnownConfigMap) => ours || own.has(uid);
  const controller = runController({
    ...commonOptions(deps),
    name: 'ca-config-map',
    whenReady: async () => void (await Promise.all([cluster.whenSynced(), configMaps.whenSynced()])),
    *keys() {
      for (const namespace of cluster.namespaces.values()) yield namespace.name;
    },
    async reconcile(namespace, signal) {
      const existing = configMaps.get(`${namespace}/${name}`);
      const wanted = isWanted(deps, indexes, namespace);
      if (!wanted) return existing && isOurs(existing) ? remove(deps, existing, signal) : undefined;
      if (existing !== undefined && !isOurs(existing)) return tellForeign(deps, existing);
      if (existing?.ours && existing.digest === digestOf(authorities.current())) return undefined;
      return write(deps, namespace, existing !== undefined, signal);
    },
  });
  const enqueue = (namespace: string) => controller.enqueue(namespace);
  authorities.onChange(() => {
    for (const namespace of cluster.namespaces.values()) enqueue(namespace.name);
  });
  cluster.namespaces.onChange((namespace, _before, gone) => !gone && enqueue(namespace.name));
  configMaps.onChange(({ namespace }) => enqueue(namespace));
  cluster.pods.onChange((pod, before, gone) => {
    if (protectionDiffers(pod, before, gone)) enqueue(pod.namespace);
  });
  const closed = Promise.all([controller.closed, configMaps.closed]).then(() => {});
  const isForeign = (namespace: string) => {
    const known = configMaps.get(`${namespace}/${name}`);
    return known !== undefined && !isOurs(known) && known.digest !== digestOf(authorities.current());
  };
  return { ...controller, closed, isForeign };
}

function isWanted({ cluster, namespace: own }: CaConfigMapDeps, indexes: Indexes, name: string): boolean {
  const namespace = cluster.namespaces.get(name);
  if (namespace === undefined || namespace.terminating || isExempt(name, own)) return false;
  return isLabelled(namespace.labels) || hasProtectedPod(indexes.pods.in(name));
}

const pathIn = (namespace: string) =>
  `/api/v1/namespaces/${encodeURIComponent(namespace)}/configmaps/${name}`;

/**
 * @param force takes back fields that others have set in our config map; false when creating it, so that one which
 * somebody else has just created is not taken over
 */
async function write(
  { client, log, authorities }: CaConfigMapDeps,
  namespace: string,
  force: boolean,
  signal: AbortSignal,
): Promise<Reconciled> {
  const object = {
    ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, labels: managedBy } },
    data: authorities.current(),
  };
  await apply(client, { path: pathIn(namespace), object, force, signal });
  log.info('authorities.written', { namespace, configMap: name });
  return undefined;
}

async function remove(
  { client, log }: CaConfigMapDeps,
  { namespace, uid }: KnownConfigMap,
  signal: AbortSignal,
): Promise<Reconciled> {
  const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid } };
  const request = client.request<object>({ method: 'DELETE', path: pathIn(namespace), body, signal });
  const removed = await unless(request, 'KUBE_NOT_FOUND');
  if (removed !== undefined) log.info('authorities.removed', { namespace, configMap: name });
  return undefined;
}

function tellForeign({ log, events }: CaConfigMapDeps, { namespace, uid }: KnownConfigMap): Reconciled {
  const note = `The ConfigMap ${name} has another owner, and protected pods would trust its content: no pod is protected here until you delete it, or label it ${managedByUs} to have it overwritten`;
  log.warn('authorities.foreign', { namespace, configMap: name, error: note });
  events.record({
    regarding: { apiVersion: 'v1', kind: 'ConfigMap', namespace, name, uid },
    ...{ type: 'Warning', reason: 'ForeignObject', action: 'Write', note },
  });
  return { requeueAfterMs: foreignRetryMs };
}

interface KnownConfigMap {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly ours: boolean;
  /** Of the authorities in it. */
  readonly digest: string;
}

interface ConfigMapObject extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
  readonly metadata: KubeObject['metadata'] & OwnedMetadata;
}

/** Follows the config maps of this name in all namespaces. */
function followConfigMaps(
  { client, log, signal }: Pick<OperatorDeps, 'client' | 'log' | 'signal'>,
  health: Pick<Health, 'degraded' | 'recovered'>,
  name: string,
): Following<KnownConfigMap> {
  const tell = (connected: boolean) => {
    if (connected) health.recovered('watch.configmaps');
    else health.degraded('watch.configmaps', `the ConfigMaps ${name} are not being watched`);
  };
  tell(false);
  return follow<ConfigMapObject, KnownConfigMap>({
    ...{ client, log, signal, path: '/api/v1/configmaps', fieldSelector: `metadata.name=${name}`, project },
    // without data, so that a large one is not the operator's content
    projectOutline: project,
    onConnected: tell,
  });
}

function project({ metadata, data }: ConfigMapObject): KnownConfigMap {
  const { name, namespace = '', uid } = metadata;
  return { namespace, name, uid, ours: isOperators(metadata), digest: digestOf(data ?? {}) };
}

function digestOf(data: Readonly<Record<string, string>>): string {
  const texts = Object.values(authorityKeys).map((key) => data[key] ?? null);
  return hash('sha256', JSON.stringify(texts), 'base64');
}
