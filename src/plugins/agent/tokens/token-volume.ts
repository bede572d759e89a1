import { constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { volumeNames } from '../../../core/injection/protected-pods.ts';
import { type Mount, parseMounts } from '../../../runtime/native/mounts.ts';

/** The volume with the token that the wrappers of a pod log in with, and nothing else. */
export interface TokenVolume {
  /** Where the kubelet has mounted it on the node. */
  readonly path: string;
  /** Of its root folder; the caller closes it. */
  readonly descriptor: number;
}

/** The node's first process sees the mounts of the kubelet, and the agent sees that process (hostPID). */
const host = '/proc/1';

/**
 * Opens the volume by the kubelet's own path: what a pod says of its paths and mounts is never asked.
 * @param podUid as the cgroup of the process that registered names it
 * @returns undefined where the pod has no such volume
 * @throws Error where what is there cannot be that volume alone
 */
export function openTokenVolume(podUid: string): TokenVolume | undefined {
  const mount = findTokenMount(readHostMounts(), podUid);
  if (mount === undefined) return undefined;
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
  const descriptor = openSync(`${host}/root${mount.path}`, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (fstatSync(descriptor).dev === mount.device) return { path: mount.path, descriptor };
  throw new Error(`${mount.path} leads to another file system than is mounted there`);
}

export const readHostMounts = (): Mount[] => parseMounts(readFileSync(`${host}/mountinfo`, 'utf8'));

/**
 * @returns undefined where there is none
 * @throws Error where its file system is no tmpfs, or is mounted anywhere else on the node: the node needs it then
 */
export function findTokenMount(mounts: readonly Mount[], podUid: string): Mount | undefined {
  const suffix = `/pods/${podUid}/volumes/kubernetes.io~projected/${volumeNames.token}`;
  const isIt = ({ path, root }: Mount) => path.endsWith(suffix) && root === '/';
  // the last one lies on top
  const found = mounts.findLast(isIt);
  if (found === undefined) return undefined;
  if (found.type !== 'tmpfs') throw new Error(`${found.path} is no tmpfs but ${found.type}`);
  const other = mounts.find((mount) => mount.device === found.device && !isIt(mount));
  if (other !== undefined) throw new Error(`${found.path} is mounted at ${other.path}, too`);
  return found;
}
