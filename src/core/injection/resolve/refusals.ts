import type { Pod } from '../../kubernetes/pod.ts';

/** Why a pod that asks for protection cannot have it, or nothing. */
type Refusal = (pod: Pod) => string | undefined;

/** In this order; all that apply are said. */
const refusals: readonly Refusal[] = [windows, hostNetwork, staticPod];

const wayOut = 'set svc/inject: "false" to run it without protection';

export function refusalsOf(pod: Pod): string[] {
  return refusals.map((refuse) => refuse(pod)).filter((reason) => reason !== undefined);
}

function windows({ spec }: Pod): string | undefined {
  const named = [
    spec.os?.name,
    spec.nodeSelector?.['kubernetes.io/os'],
    spec.nodeSelector?.['beta.kubernetes.io/os'],
  ];
  return named.includes('windows')
    ? `spec.os: is windows, and the wrapper runs on Linux only; ${wayOut}`
    : undefined;
}

/** On the node's network its ports would be those of the node, and no egress policy applies to it. */
function hostNetwork({ spec }: Pod): string | undefined {
  return spec.hostNetwork === true
    ? `spec.hostNetwork: is true, and a pod on the network of its node is beyond egress policies and would share its ports; ${wayOut}`
    : undefined;
}

/** What the API server is given is a mirror: changing it does not change what runs. */
function staticPod({ metadata }: Pod): string | undefined {
  return metadata.annotations !== undefined &&
    Object.hasOwn(metadata.annotations, 'kubernetes.io/config.mirror')
    ? `metadata.annotations: belong to a static pod, which its kubelet has started already; run it by a controller, or ${wayOut}`
    : undefined;
}
