import { constants, fstatSync, openSync } from 'node:fs';
import { volumeNames } from '../../../cluster/injection/protected-pods.ts';
import { type Mount, mountsOf } from '../../../runtime/native/mounts.ts';

/** The volume that holds the token with which a pod's wrappers log in, and nothing else. */
export interface TokenVolume {
  /** The kubelet's mount point on the node. */
  readonly path: string;
  /** Of the volume's root folder; the caller closes it. */
  readonly descriptor: number;
}

/** The node's first process sees the kubelet's mounts, and the agent sees that process (hostPID). */
const host = '/proc/1';

/**
 * Opens the volume by the kubelet's path; a pod's own view of paths and mounts is not trusted.
 * @param podUid as in the name of the cgroup of the process that registered
 * @returns undefined if the pod has no such volume
 * @throws Error if the file system there is not just that volume
 */
export function openTokenVolume(podUid: string): TokenVolume | undefined {
  const mount = findTokenMount(readHostMounts(), podUid);
  if (mount === undefined) return undefined;
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
  const descriptor = openSync(`${host}/root${mount.path}`, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (fstatSync(descriptor).dev === mount.device) return { path: mount.path, descriptor };
  throw new Error(`${mount.path} leads to another file system than is mounted there`);
}

/** Those that matter here, in their order: each tmpfs, and whatever is mounted where such a volume belongs. */
export function readHostMounts(): Mount[] {
  const mounts: Mount[] = [];
  for (const mount of mountsOf(`${host}/mountinfo`))
    if (mount.type === 'tmpfs' || mount.path.endsWith(volumeSuffix)) mounts.push(mount);
  return mounts;
}

const volumeSuffix = `/volumes/kubernetes.io~projected/${volumeNames.token}`;

/**
 * @returns undefined if there is none
 * @throws Error if the file system is not a tmpfs, or is also mounted elsewhere on the node, which then needs it
 */
export function findTokenMount(mounts: readonly Mount[], podUid: string): Mount | undefined {
  const suffix = `/pods/${podUid}${volumeSuffix}`;
  const isIt = ({ path, root }: Mount) => path.endsWith(suffix) && root === '/';
  // the last mount is on top
  const found = mounts.findLast(isIt);
  if (found === undefined) return undefined;
  if (found.type !== 'tmpfs') throw new Error(`${found.path} is no tmpfs but ${found.type}`);
  const other = mounts.find((mount) => mount.device === found.device && !isIt(mount));
  if (other !== undefined) throw new Error(`${found.path} is mounted at ${other.path}, too`);
  return found;
}
