import { isDeepStrictEqual } from 'node:util';
import { isProtected } from '../../../core/cluster/protected.ts';
import type { KnownPolicy } from '../../../runtime/cluster/project-policy.ts';
import type { ClusterView, Followed, KnownPod } from '../cluster/contract.ts';

/** Has a namespace looked at when what its policies are made from changes, or when they themselves do. */
export function enqueueChanges(
  cluster: ClusterView,
  policies: Followed<KnownPolicy>,
  enqueue: (namespace: string) => void,
): void {
  cluster.pods.onChange((pod, before, gone) => {
    if (matters(pod, before, gone)) enqueue(pod.namespace);
  });
  cluster.serviceConfigs.onChange(({ namespace }) => enqueue(namespace));
  cluster.namespaces.onChange(({ name }, before, gone) => {
    if (gone || before === undefined) enqueue(name);
  });
  policies.onChange(({ namespace }) => enqueue(namespace));
}

function matters(pod: KnownPod, before: KnownPod | undefined, gone: boolean): boolean {
  const was = before !== undefined && isProtected(before.pod);
  const is = !gone && isProtected(pod.pod);
  // what a pod connects to stays as it is, but for what selects it
  return was !== is || (is && !isDeepStrictEqual(pod.pod.metadata.labels, before?.pod.metadata.labels));
}
