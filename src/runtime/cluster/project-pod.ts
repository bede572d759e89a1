import type { KnownPod } from '../../core/cluster/known.ts';
import { isOurs } from '../../core/injection/resolve/given-annotations.ts';
import type { Pod, PodMetadata, PodSpec } from '../../core/kubernetes/pod.ts';
import { type KubeObject, keyOf } from '../kube/objects.ts';
import type { Intern } from './intern.ts';
import { pick } from './pick.ts';
import { projectContainer, projectMember } from './project-container.ts';

export type PodObject = KubeObject & Pod;

/** Of a template everything is optional. */
export interface PodTemplate {
  readonly metadata?: PodMetadata;
  readonly spec?: PodSpec;
}

/** What is kept of a pod. */
export function projectPod(object: PodObject, intern: Intern): KnownPod {
  const { name, uid, namespace = '' } = object.metadata;
  const phase = object.status?.phase;
  const pod: Pod = {
    metadata: {
      ...pick(object.metadata, ['name', 'namespace', 'uid', 'creationTimestamp', 'deletionTimestamp']),
      ...projectMetadata(object.metadata, intern),
    },
    spec: projectSpec(object.spec, intern),
    ...(phase === undefined ? {} : { status: { phase } }),
  };
  return { key: keyOf(object), namespace, name, uid, pod };
}

/** What is kept of the pods that a workload makes. */
export function projectTemplate({ metadata = {}, spec }: PodTemplate, intern: Intern): Pod {
  return {
    metadata: projectMetadata(metadata, intern),
    spec: projectSpec(spec ?? { containers: [] }, intern),
  };
}

/** What marks a static pod, which cannot be protected. */
const mirror = 'kubernetes.io/config.mirror';

function projectMetadata(metadata: PodMetadata, intern: Intern): PodMetadata {
  const { labels, annotations = {}, ownerReferences } = metadata;
  const ours = Object.entries(annotations).filter(([name]) => isOurs(name) || name === mirror);
  return {
    ...(labels && { labels: intern(labels) }),
    ...(ours.length > 0 && { annotations: intern(Object.fromEntries(ours)) }),
    ...(ownerReferences && { ownerReferences: intern(ownerReferences) }),
  };
}

function projectSpec(spec: PodSpec, intern: Intern): PodSpec {
  const { initContainers, ephemeralContainers, volumes, nodeName, nodeSelector, ...rest } = spec;
  const shared = {
    ...pick(rest, [
      ...(['serviceAccountName', 'automountServiceAccountToken', 'hostNetwork', 'hostPID'] as const),
      ...(['shareProcessNamespace', 'os', 'restartPolicy', 'securityContext'] as const),
    ]),
    containers: rest.containers.map(projectContainer),
    ...(initContainers && { initContainers: initContainers.map(projectContainer) }),
    ...(ephemeralContainers && { ephemeralContainers: ephemeralContainers.map(projectContainer) }),
    ...(volumes && { volumes: volumes.map(projectMember) }),
    ...(nodeSelector && { nodeSelector }),
  };
  const interned = intern(shared);
  return nodeName === undefined ? interned : { ...interned, nodeName };
}
