import type { SecretMappingSpec, ServiceConfigSpec } from '../../../../../src/cluster/resources/resources.ts';
import { byNamespace, type ClusterView } from '../../../../../src/plugins/operator/cluster-view.ts';

export interface KnownObjects {
  /** Labels by namespace. */
  readonly namespaces?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Specs by `namespace/name`. */
  readonly serviceConfigs?: Readonly<Record<string, ServiceConfigSpec>>;
  readonly secretMappings?: Readonly<Record<string, SecretMappingSpec>>;
}

/** What a view and the indexes have of it, as much as the webhook reads. */
export function knownTo(objects: KnownObjects) {
  const cluster = clusterOf(objects);
  const { serviceConfigs, secretMappings } = cluster;
  const indexes = {
    serviceConfigs: byNamespace(serviceConfigs),
    secretMappings: byNamespace(secretMappings),
  };
  return { cluster, indexes };
}

function clusterOf({ namespaces = {}, serviceConfigs = {}, secretMappings = {} }: KnownObjects): ClusterView {
  const known = { created: '2026-01-01T00:00:00Z' };
  return {
    whenSynced: () => Promise.resolve(),
    synced: true,
    namespaces: followed(Object.entries(namespaces).map(([name, labels]) => [name, { name, labels }])),
    serviceConfigs: followed(entriesOf(serviceConfigs, known)),
    secretMappings: followed(entriesOf(secretMappings, known)),
  } as unknown as ClusterView;
}

function entriesOf(specs: Readonly<Record<string, unknown>>, more: object): [string, object][] {
  return Object.entries(specs).map(([key, spec]) => {
    const [namespace, name] = key.split('/');
    return [key, { ...more, key, namespace, name, spec }];
  });
}

function followed(entries: readonly (readonly [string, object])[]) {
  const all = new Map(entries);
  return { get: (key: string) => all.get(key), values: () => all.values(), onChange() {} };
}
