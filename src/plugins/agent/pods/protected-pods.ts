import { protectedLabel } from '../../../core/kubernetes/labels.ts';
import type { KubeClient } from '../../../runtime/kube/client.ts';
import type { KubeObject } from '../../../runtime/kube/objects.ts';
import { reflect } from '../../../runtime/kube/reflect.ts';
import type { ReflectOptions, Reflector } from '../../../runtime/kube/reflect-options.ts';

/** What is kept of a pod. */
export interface WantedPod {
  /** By which its cgroup is named. */
  readonly uid: string;
  /** `namespace/name` */
  readonly name: string;
}

type Rest = Omit<ReflectOptions<KubeObject, WantedPod>, 'path' | 'project' | 'client'>;

/** The kubelet names a static pod's cgroup by the hash of its manifest, and notes that in the pod's mirror. */
const mirrorHash = 'kubernetes.io/config.mirror';

/** One that has ended has no cgroup any more, and waits for its deletion. */
const notEnded = 'status.phase!=Succeeded,status.phase!=Failed';

/** Follows the pods of a node that are labelled as protected. */
export function followProtectedPods(client: KubeClient, node: string, rest: Rest): Reflector<WantedPod> {
  return reflect<KubeObject, WantedPod>({
    ...{ client, path: '/api/v1/pods', metadataOnly: true },
    ...{ fieldSelector: `spec.nodeName=${node},${notEnded}`, labelSelector: `${protectedLabel}=true` },
    project: wantedPodOf,
    ...rest,
  });
}

export function wantedPodOf({ metadata }: KubeObject): WantedPod {
  const { uid, name, namespace = '', annotations } = metadata;
  return { uid: annotations?.[mirrorHash] ?? uid, name: `${namespace}/${name}` };
}
