import type { KnownPod, KnownWorkload } from '../../cluster/known.ts';
import type { OwnerOf } from '../../cluster/owner.ts';
import { isOver } from '../../cluster/protected.ts';
import type { Pod } from '../../kubernetes/pod.ts';
import type { WorkloadName } from '../contract.ts';

/** A workload with its pods, those that have ended left out. */
export interface Group {
  readonly name: WorkloadName;
  readonly pods: KnownPod[];
  template: Pod | undefined;
}

/** The workloads of one namespace; a Job is one only while it has pods, because it stays there after its end. */
export function groupsOf(
  pods: Iterable<KnownPod>,
  templates: Iterable<KnownWorkload>,
  ownerOf: OwnerOf,
): readonly Group[] {
  const groups = new Map<string, Group>();
  const groupOf = ({ kind, namespace, name }: WorkloadName): Group => {
    const key = `${kind}/${name}`;
    const group = groups.get(key) ?? { name: { kind, namespace, name }, pods: [], template: undefined };
    groups.set(key, group);
    return group;
  };
  for (const pod of pods) if (!isOver(pod.pod)) groupOf(ownerOf(pod)).pods.push(pod);
  for (const workload of templates) groupOf(workload).template = workload.template;
  return [...groups.values()].filter(({ name, pods }) => pods.length > 0 || name.kind !== 'Job');
}
