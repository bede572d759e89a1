import type { Pod } from '../../../../../../src/cluster/kube/pod.ts';

/** What a network plugin does when a pod is started, before any of its containers runs. */
export interface PodNetwork {
  /** @param holder process that holds the pod's network namespace */
  attach(pod: Pod, holder: number): Promise<void>;
}
