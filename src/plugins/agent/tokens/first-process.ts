import { readFileSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Guard, ProcessFacts } from '../guard/contract.ts';
import { processesIn } from '../pods/cover-pods.ts';
import { type Folder, folderAt, namesIn } from '../pods/pod-cgroups.ts';
import { findTokenMount, type Mount, parseMounts } from './token-volume.ts';

/** The cgroups of a pod's containers, that of its sandbox among them. */
export function containersIn(pod: string): Folder[] {
  return namesIn(pod)
    .map((name) => folderAt(join(pod, name)))
    .filter((folder) => folder !== undefined);
}

/**
 * The process that a container was started with, as long as it lives: nothing in its cgroup is older. What `kubectl exec`
 * brings in comes later, whatever it is.
 * @returns undefined where nothing runs in it
 */
export function firstProcessIn(container: string, guard: Pick<Guard, 'inspect'>): ProcessFacts | undefined {
  return processesIn(container)
    .map((pid) => guard.inspect(pid))
    .filter((facts) => facts !== undefined)
    .reduce<ProcessFacts | undefined>(
      (oldest, one) => (oldest === undefined || one.start < oldest.start ? one : oldest),
      undefined,
    );
}

/** `starting`: the runtime has not given it the container's own root yet, and it still sees the node's mounts. */
export type VolumeView = 'starting' | 'mounted' | 'without';

/**
 * Whether a process sees the token volume of its pod where its container has it, and not by the kubelet's own path.
 * @param hostMounts those of the node
 * @throws Error of `findTokenMount`
 */
export function viewOfVolume(pid: number, podUid: string, hostMounts: readonly Mount[]): VolumeView {
  const volume = findTokenMount(hostMounts, podUid);
  if (volume === undefined) return 'without';
  try {
    if (isSame(statSync(`/proc/${pid}/root/`), statSync('/proc/1/root/'))) return 'starting';
    const mounts = parseMounts(readFileSync(`/proc/${pid}/mountinfo`, 'utf8'));
    const isMount = ({ device, path }: Mount) => device === volume.device && path !== volume.path;
    return mounts.some(isMount) ? 'mounted' : 'without';
  } catch {
    // the process has ended: another one is the first now, or the container is gone
    return 'starting';
  }
}

const isSame = (one: Stats, other: Stats): boolean => one.dev === other.dev && one.ino === other.ino;
