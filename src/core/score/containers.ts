import { isMeshSidecar } from '../injection/mutate/mesh-sidecars.ts';
import {
  certificateFolder,
  isInjected,
  volumeNames,
  wrapperFolder,
  wrapperProgram,
} from '../injection/mutate/names.ts';
import { originalCmd } from '../injection/mutate/wrapped.ts';
import { givenAnnotations, optsOut } from '../injection/resolve/given-annotations.ts';
import type { Container, Pod } from '../kubernetes/pod.ts';

/** Those that have to start under the wrapper: a mesh's sidecars and what the webhook adds hold none of its secrets. */
export function applicationContainers({ spec }: Pod): readonly Container[] {
  return spec.containers.filter((container) => !isInjected(container) && !isMeshSidecar(container));
}

/** It starts the wrapper as the webhook writes it, out of the folder that the webhook mounts. */
export function isWrapped(container: Container, pod: Pod): boolean {
  return startsWrapper(container) && hasFolder(container, pod);
}

/**
 * Flags of the wrapper would win over what its variables say. Values of other variables, and what follows the program,
 * may have been left out of the pod.
 */
function startsWrapper({ command = [], args = [], env = [] }: Container): boolean {
  const [program, separator] = command;
  if (program !== wrapperProgram || args.length > 0) return false;
  return (separator ?? '--') === '--' && env.some(({ name }) => name === originalCmd);
}

/** What is mounted below the folder could stand in the wrapper's place. */
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
