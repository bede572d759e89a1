import type { KnownWorkload, Workloads } from '../cluster/contract.ts';

/** Workloads that have a template of their own, by namespace. */
export interface Templates {
  in(namespace: string): Iterable<KnownWorkload>;
}

export function templatesOf(workloads: Workloads): Templates {
  const all = new Map<string, Map<string, KnownWorkload>>();
  const drop = ({ namespace, kind, name }: KnownWorkload) => {
    const within = all.get(namespace);
    within?.delete(`${kind}/${name}`);
    if (within?.size === 0) all.delete(namespace);
  };
  const put = (workload: KnownWorkload) => {
    if (workload.template === undefined) return drop(workload);
    const { namespace, kind, name } = workload;
    const within = all.get(namespace) ?? new Map<string, KnownWorkload>();
    all.set(namespace, within.set(`${kind}/${name}`, workload));
  };
  for (const workload of workloads.values()) put(workload);
  workloads.onChange((workload, _before, gone) => (gone ? drop(workload) : put(workload)));
  return { in: (namespace) => all.get(namespace)?.values() ?? [] };
}
