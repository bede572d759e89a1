import type { ServiceConfigSpec } from '../custom-resources/resources.ts';
import {
  certificateFolder,
  containersOf,
  isInjected,
  isMeshSidecar,
  startsWrapper,
  volumeNames,
  wrapperFolder,
} from '../injection/mutate/containers.ts';
import { givenAnnotations, optsOut } from '../injection/resolve/annotations.ts';
import { isLabelled, selects } from './labels.ts';
import type { Container, Pod } from './pod.ts';

/** Those that start under the wrapper, init containers among them. */
export function wrappedContainers(pod: Pod): readonly Container[] {
  return containersOf(pod).filter((container) => isWrapped(container, pod));
}

/** The webhook has changed it, and its changes are still present. */
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

/** Namespaces that the webhook skips, so that the cluster can start without it. */
export function isExempt(namespace: string, own: string): boolean {
  return namespace === 'kube-system' || namespace === own;
}

export function hasProtectedPod(pods: Iterable<{ readonly pod: Pod }>): boolean {
  for (const { pod } of pods) if (isProtected(pod)) return true;
  return false;
}

/** Containers that must start under the wrapper. Sidecars of a mesh and those of the webhook hold none of its secrets. */
export function applicationContainers({ spec }: Pod): readonly Container[] {
  return spec.containers.filter((container) => !isInjected(container) && !isMeshSidecar(container));
}

/** It starts the wrapper as the webhook writes it, out of the folder that the webhook mounts. */
export function isWrapped(container: Container, pod: Pod): boolean {
  return startsWrapper(container) && hasFolder(container, pod);
}

/** A mount below the folder could replace the wrapper. */
function hasFolder({ volumeMounts = [] }: Container, { spec }: Pod): boolean {
  const below = volumeMounts.filter(({ mountPath }) => `${mountPath}/`.startsWith(`${wrapperFolder}/`));
  const own = below.find(({ mountPath }) => mountPath === wrapperFolder);
  const volume = (spec.volumes ?? []).find(({ name }) => name === volumeNames.wrapper);
  return (
    volume !== undefined &&
    own?.name === volume.name &&
    // an image's volume shows its whole root
    own.subPath === (volume.image === undefined ? undefined : wrapperFolder.slice(1)) &&
    below.every(({ mountPath }) => mountPath === wrapperFolder || mountPath === certificateFolder)
  );
}

/** `svc/…` annotations make a pod ask for it, unless they say no. */
export function asksForWrapper(pod: Pod): boolean {
  const given = givenAnnotations(pod);
  return !optsOut(given) && Object.keys(given).length > 0;
}

export interface CreatedConfig {
  readonly name: string;
  /** RFC 3339, in UTC. */
  readonly created: string;
  readonly spec: ServiceConfigSpec;
}

/** The oldest of those that select the pod; ties are broken by name. Undefined where none does. */
export function selectServiceConfig<T extends CreatedConfig>(pod: Pod, configs: readonly T[]): T | undefined {
  return configs
    .filter(({ spec }) => selects(spec.selector, pod.metadata.labels))
    .reduce<T | undefined>(
      (best, one) => (best === undefined || precedes(one, best) ? one : best),
      undefined,
    );
}

function precedes(a: CreatedConfig, b: CreatedConfig): boolean {
  return a.created === b.created ? a.name < b.name : a.created < b.created;
}
