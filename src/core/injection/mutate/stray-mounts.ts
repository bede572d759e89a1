import type { Container, PodSpec, VolumeMount } from '../../kubernetes/pod.ts';
import { isSameMount } from './add-volume.ts';
import { isInjected } from './names.ts';
import type { Shared } from './shared.ts';

/**
 * Volumes of the operator's own, mounted otherwise than it does. An init container that mounts the wrapper's folder could
 * put another program into it, and a sidecar that mounts the token could log in as the application does.
 * @param wrapped names of the containers that are given what is shared
 */
export function strayMounts(
  { containers, initContainers = [] }: PodSpec,
  wrapped: ReadonlySet<string>,
  shared: readonly Shared[],
): string[] {
  const added = new Map(shared.map(({ volume, mount }) => [volume.name, mount]));
  const isStray = (container: Container) => (mount: VolumeMount) => {
    const wanted = added.get(mount.name);
    return wanted !== undefined && !(wrapped.has(container.name) && isSameMount(mount, wanted));
  };
  return [...initContainers, ...containers]
    .filter((container) => !isInjected(container))
    .flatMap((container) =>
      (container.volumeMounts ?? [])
        .filter(isStray(container))
        .map(
          ({ name, mountPath }) =>
            `container ${container.name}: mounts ${name} at ${mountPath}, and this volume is the operator's own`,
        ),
    );
}
