import { containersOf } from '../injection/mutate/chosen.ts';
import { isLabelled } from '../kubernetes/labels.ts';
import type { Container, Pod } from '../kubernetes/pod.ts';
import { isWrapped } from '../score/containers.ts';

/** Those that start under the wrapper, init containers among them. */
export function wrappedContainers(pod: Pod): readonly Container[] {
  return containersOf(pod).filter((container) => isWrapped(container, pod));
}

/** The webhook has changed it, and what it did is still there. */
export function carriesWrapper(pod: Pod): boolean {
  return isLabelled(pod.metadata.labels) && wrappedContainers(pod).length > 0;
}

/** It runs, or is about to, as one of the pods that egress policies select. */
export function isProtected(pod: Pod): boolean {
  return isLabelled(pod.metadata.labels) && !isOver(pod);
}

/** It has ended by itself and is only kept for its logs. */
export function isOver({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/** The webhook sees no pod of these, so that the cluster can start without it. */
export function isExempt(namespace: string, own: string): boolean {
  return namespace === 'kube-system' || namespace === own;
}

export function hasProtectedPod(pods: Iterable<{ readonly pod: Pod }>): boolean {
  for (const { pod } of pods) if (isProtected(pod)) return true;
  return false;
}
