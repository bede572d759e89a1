import { namedAuthorities } from '../../../../cluster/injection/mutate/proxy-container.ts';
import { volumeNames } from '../../../../cluster/injection/protected-pods.ts';
import type { KubeObject } from '../../../../cluster/kube/client.ts';
import type { KnownServiceConfig } from '../../../../cluster/kube/known-objects.ts';
import { counted } from '../../../../runtime/units.ts';
import { type CheckContext, type CheckFailure, skipped, verdict } from '../../check.ts';
import { protectedPodsOf, type SeenPod } from '../../cluster/pods.ts';
import { capped, listObjects, serviceConfigsOf } from '../../cluster/read.ts';
import { clusterCheck } from '../../make-check.ts';

export const authoritiesExist = clusterCheck('SVC-OPERATOR-021', 'error', {
  timeoutMs: 60_000,
  title: 'Every ConfigMap with authorities that protected pods mount is in their namespace, with its key',
  cause:
    'svc/proxy-store-ca, or proxy.storeCA of a ServiceConfig, names a ConfigMap of another namespace, one that was not created yet, or another key; or the operator may not write svc-ca. The kubelet waits for it forever: a new pod stays in ContainerCreating.',
  fix: 'Create it in that namespace, with the key ca.crt or the one named after the slash (kubectl create configmap store-ca --from-file=ca.crt=store-ca.pem). For svc-ca, look for authorities.* in the log of the operator.',
  async run(context) {
    const [{ labelled }, configs = []] = await Promise.all([
      protectedPodsOf(context),
      serviceConfigsOf(context),
    ]);
    const wanted = Map.groupBy([...labelled.flatMap(mounted), ...configs.flatMap(named)], itemOf);
    if (wanted.size === 0) return skipped('Nothing names a ConfigMap with authorities');
    const names = [...wanted.values()].flatMap(([first]) => first?.configMap ?? []);
    const keysOf = await configMapsOf(context, new Set(names));
    const failures = [...wanted.values()].flatMap((all) => problemOf(all, keysOf));
    return verdict(capped(failures), counted(wanted.size, 'ConfigMap'));
  },
});

/** A key of a ConfigMap, and what needs it. */
interface Wanted {
  readonly namespace: string;
  readonly configMap: string;
  readonly key: string;
  readonly by: string;
  /** Whether an existing pod mounts it. */
  readonly mounted: boolean;
}

const itemOf = ({ namespace, configMap, key }: Wanted): string => `${namespace}/${configMap}/${key}`;

const ours: readonly string[] = [volumeNames.certificates, volumeNames.storeCertificates];

/** The keys that a pod mounts; none of these volumes is optional. */
function mounted({ namespace, key: pod, pod: { spec } }: SeenPod): readonly Wanted[] {
  const volumes = spec.volumes?.filter(({ name }) => ours.includes(name)) ?? [];
  return volumes.flatMap(({ configMap: { name: configMap = '', items = [] } = {} }) =>
    (items as readonly { readonly key: string }[]).map(({ key }) => ({
      namespace,
      configMap,
      key,
      by: `the pod ${pod}`,
      mounted: true,
    })),
  );
}

/** The key that pods will mount when a ServiceConfig selects them. */
function named({ namespace, name, spec: { proxy } }: KnownServiceConfig): readonly Wanted[] {
  const authorities = namedAuthorities(proxy?.storeCA ?? '');
  const by = `the ServiceConfig ${namespace}/${name}`;
  return authorities === undefined ? [] : [{ namespace, ...authorities, by, mounted: false }];
}

/** Keys of each ConfigMap, by `namespace/name`. */
type KeysOf = ReadonlyMap<string, readonly string[]>;

interface ConfigMapObject extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>>;
}

/** Lists each name once in all namespaces, because a role can be limited to names. */
async function configMapsOf(context: CheckContext, names: ReadonlySet<string>): Promise<KeysOf> {
  const keep = ({ metadata, data = {}, binaryData = {} }: ConfigMapObject) => {
    const key = `${metadata.namespace}/${metadata.name}`;
    return [key, [...Object.keys(data), ...Object.keys(binaryData)]] as const;
  };
  const lists = await Promise.all(
    [...names].map((name) =>
      listObjects(context, { path: '/api/v1/configmaps', fieldSelector: `metadata.name=${name}`, keep }),
    ),
  );
  return new Map(lists.flatMap((list) => list ?? []));
}

/** @param all users of the same item */
function problemOf(all: readonly Wanted[], keysOf: KeysOf): readonly CheckFailure[] {
  const [first] = all;
  if (first === undefined) return [];
  const { namespace, configMap, key } = first;
  const subject = `${namespace}/${configMap}`;
  const keys = keysOf.get(subject);
  if (keys?.includes(key)) return [];
  const problem = keys === undefined ? 'There is no such ConfigMap' : `It has no key ${key}`;
  const wanted = all.length > 1 ? `${first.by} and ${all.length - 1} more want it` : `${first.by} wants it`;
  const soft = all.every(({ mounted }) => !mounted) && ({ level: 'warning' } as const);
  return [{ subject, message: `${problem}: ${wanted}.`, ...soft }];
}
