import type {
  ClusterView,
  FollowedKind,
  KnownNamespace,
  KnownPod,
  KnownServiceConfig,
  KnownWorkload,
} from '../../../../src/plugins/operator/cluster-view.ts';

type Handle<T> = Parameters<FollowedKind<T>['onChange']>[0];

/** Objects that a test puts and takes away. */
export interface FakeFollowed<T> extends FollowedKind<T> {
  put(key: string, value: T): void;
  remove(key: string): void;
}

export function fakeFollowed<T>(): FakeFollowed<T> {
  const all = new Map<string, T>();
  const handles: Handle<T>[] = [];
  return {
    synced: true,
    get size() {
      return all.size;
    },
    get: (key) => all.get(key),
    values: () => all.values(),
    onChange: (handle) => void handles.push(handle),
    put(key, value) {
      const before = all.get(key);
      all.set(key, value);
      for (const handle of handles) handle(value, before, false);
    },
    remove(key) {
      const value = all.get(key);
      if (value === undefined) throw new Error(`There is no ${key}.`);
      all.delete(key);
      for (const handle of handles) handle(value, value, true);
    },
  };
}

/** A view of a cluster that does not exist. */
export function fakeCluster() {
  const namespaces = fakeFollowed<KnownNamespace>();
  const pods = fakeFollowed<KnownPod>();
  const serviceConfigs = fakeFollowed<KnownServiceConfig>();
  const workloads = fakeFollowed<KnownWorkload>();
  const view: ClusterView = {
    ...{ namespaces, pods, serviceConfigs, secretMappings: fakeFollowed() },
    workloads: Object.assign(workloads, {
      ownerOf({ namespace, name, pod }: KnownPod) {
        const [owner] = pod.metadata.ownerReferences ?? [];
        return { kind: owner?.kind ?? 'Pod', namespace, name: owner?.name ?? name };
      },
    }),
    keepingOf: () => {
      throw new Error('Nothing else is followed.');
    },
    whenSynced: async () => {},
    synced: true,
  };
  return { view, namespaces, pods, serviceConfigs, workloads };
}
