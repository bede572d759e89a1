import { protectedLabel } from '../../../core/kubernetes/labels.ts';
import type { KubeClient } from '../../../runtime/kube/client.ts';
import type { KubeObject } from '../../../runtime/kube/objects.ts';
import { reflect } from '../../../runtime/kube/reflect.ts';
import type { ReflectOptions, Reflector } from '../../../runtime/kube/reflect-options.ts';

/** What is kept of a pod: the UID by which its cgroup is named. */
export type PodUid = string;

type Rest = Omit<ReflectOptions<KubeObject, PodUid>, 'path' | 'project' | 'client'>;

/** The kubelet names a static pod's cgroup by the hash of its manifest, and notes that in the pod's mirror. */
const mirrorHash = 'kubernetes.io/config.mirror';

/** Follows the pods of a node that are labelled as protected. */
export function followProtectedPods(client: KubeClient, node: string, rest: Rest): Reflector<PodUid> {
  return reflect<KubeObject, PodUid>({
    ...{ client, path: '/api/v1/pods', metadataOnly: true },
    ...{ fieldSelector: `spec.nodeName=${node}`, labelSelector: `${protectedLabel}=true` },
    project: cgroupUidOf,
    ...rest,
  });
}

export function cgroupUidOf({ metadata: { uid, annotations } }: KubeObject): PodUid {
  return annotations?.[mirrorHash] ?? uid;
}
