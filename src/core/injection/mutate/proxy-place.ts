import type { Pod } from '../../kubernetes/pod.ts';
import type { Surroundings } from '../contract.ts';
import { proxyName } from './names.ts';

/**
 * Whether the proxy is a native sidecar. Where it is in the pod already it stays as it is: while a cluster is upgraded, one
 * replica knows of sidecars and another does not, and neither may refuse what the other has made.
 */
export function proxyIsSidecar({ spec }: Pod, { nativeSidecars }: Surroundings): boolean {
  const isProxy = ({ name }: { readonly name: string }) => name === proxyName;
  if (spec.initContainers?.find(isProxy)?.restartPolicy === 'Always') return true;
  return nativeSidecars && !spec.containers.some(isProxy);
}
