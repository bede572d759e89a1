import { ownerOf } from '../../../core/cluster/owner.ts';
import type { KnownWorkload, Workloads } from './contract.ts';
import type { Following } from './follow.ts';

type ByKind = ReadonlyMap<string, Following<KnownWorkload>>;

/** Workloads of all kinds as one, by `kind/namespace/name`. */
export function allWorkloads(byKind: ByKind): Workloads {
  const all = [...byKind.values()];
  const get = (key: string) => {
    const [kind = '', namespace, name] = key.split('/');
    return byKind.get(kind)?.get(`${namespace}/${name}`);
  };
  return {
    get,
    ownerOf: (pod) => ownerOf(pod, get),
    *values() {
      for (const following of all) yield* following.values();
    },
    get size() {
      return all.reduce((sum, { size }) => sum + size, 0);
    },
    get synced() {
      return all.every(({ synced }) => synced);
    },
    onChange(handle) {
      for (const following of all) following.onChange(handle);
    },
  };
}
