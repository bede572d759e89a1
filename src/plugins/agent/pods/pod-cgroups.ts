import {
  closeSync,
  constants,
  type Dir,
  opendirSync,
  openSync,
  readFileSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { basename, join, relative } from 'node:path';
import { BoundedMap } from '../../../runtime/bounds/bounded-map.ts';
import { NativeError, tryInt } from '../../../runtime/native/libc.ts';
import { withScratch } from '../../../runtime/native/memory.ts';
import { podUidOf, podUidOfProcess } from './pod-cgroup.ts';

/** The cgroup of a pod, which contains those of its containers. */
export interface PodCgroup extends Folder {
  /** The pod's UID; for a static pod the hash of its manifest. */
  readonly uid: string;
}

export interface PodCgroups {
  readonly pods: readonly PodCgroup[];
  /** The folders in which cgroups of pods come and go. */
  readonly parents: readonly Folder[];
}

/** Names with the cgroupfs driver, and with the systemd driver, which prefixes the names of the parents. */
const ofAllPods = /^(?:[\w.]+-)*kubepods(?:\.slice)?$/;
const ofServiceClass = /^(?:(?:[\w.]+-)*kubepods-)?(?:burstable|besteffort)(?:\.slice)?$/;

/**
 * The pods' cgroups of this node, for any cgroup driver and cgroup root of the kubelet.
 * @param root mount point of cgroup v2
 * @throws Error if it cannot be read
 */
export function scanPodCgroups(root: string): PodCgroups {
  const tops = findTops(root);
  const inTops = tops.flatMap(({ path }) => foldersIn(path));
  const classes = inTops.filter(({ path }) => ofServiceClass.test(basename(path)));
  const candidates = [...inTops, ...classes.flatMap(({ path }) => foldersIn(path))];
  return { pods: candidates.flatMap((folder) => asPod(root, folder)), parents: [...tops, ...classes] };
}

function asPod(root: string, folder: Folder): PodCgroup[] {
  const uid = podUidOf(`/${relative(root, folder.path)}`);
  return uid === undefined ? [] : [{ ...folder, uid }];
}

function findTops(root: string): Folder[] {
  const names = namesIn(root);
  const direct = names.filter((name) => ofAllPods.test(name));
  const nested = names.flatMap((name) => [
    join(name, 'kubepods'),
    join(name, `${name.replace(/\.slice$/, '')}-kubepods.slice`),
  ]);
  return [...direct, ...nested].flatMap((path) => folderAt(join(root, path)) ?? []);
}

/** A folder of the cgroup file system. */
export interface Folder {
  readonly path: string;
  /** Id of the cgroup: the inode number, on 64-bit systems equal to what `name_to_handle_at` yields. Never reused. */
  readonly id: bigint;
}

/** Undefined if it is gone, or not a folder. */
export function folderAt(path: string): Folder | undefined {
  try {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    return found?.isDirectory() ? { path, id: found.ino } : undefined;
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

/** More subfolders than pods of a node, and containers of a pod, can be; who makes cgroups of its own may make more. */
const maxNames = 4_096;

/** Names of the subfolders of a folder, no more than the bound; none if it is gone. */
export function namesIn(path: string): string[] {
  try {
    return readNames(opendirSync(path, { bufferSize: 256 }));
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
}

function readNames(folder: Dir): string[] {
  const names: string[] = [];
  try {
    for (let entry = folder.readSync(); entry !== null && names.length < maxNames; entry = folder.readSync())
      if (entry.isDirectory()) names.push(entry.name);
    return names.sort();
  } finally {
    folder.closeSync();
  }
}

/** @param max beyond which the others are not looked at */
function foldersIn(path: string, max = maxNames): Folder[] {
  return namesIn(path)
    .slice(0, max)
    .map((name) => folderAt(join(path, name)))
    .filter((folder) => folder !== undefined);
}

/** FILEID_KERNFS: in cgroup v2 the handle of a folder is the cgroup's id (Linux 5.5). */
const handleType = 0xfe;
const handleLength = 8;

/**
 * Whether a cgroup exists, wherever it is and however deep.
 * @param root mount point of cgroup v2
 * @returns true also where that cannot be told, as without the capability to open by handles
 */
export function isCgroupThere(root: string, id: bigint): boolean {
  const mount = openSync(root, 'r');
  try {
    closeSync(openByHandle(mount, id));
    return true;
  } catch (error) {
    return !(error instanceof NativeError && ['ESTALE', 'ENOENT'].includes(error.errnoName));
  } finally {
    closeSync(mount);
  }
}

function openByHandle(mount: number, id: bigint): number {
  return withScratch(handleLength + 8, ({ address, bytes }) => {
    bytes.writeUInt32LE(handleLength);
    bytes.writeInt32LE(handleType, 4);
    bytes.writeBigUInt64LE(id, 8);
    return tryInt('open_by_handle_at', mount, address, O_PATH | constants.O_DIRECTORY);
  });
}

const O_PATH = 0o10000000;

/** A cgroup that is being removed fails with ENODEV; one that a container has nested too deep has no path any more. */
export function isGone(error: unknown): boolean {
  return ['ENOENT', 'ENODEV', 'ENAMETOOLONG'].includes((error as NodeJS.ErrnoException).code ?? '');
}

/** CGROUP2_SUPER_MAGIC */
const cgroup2 = 0x63677270;

/**
 * Mount point of cgroup v2: the folder itself, or `unified` in it if the host also has v1.
 * @returns undefined if neither is cgroup v2
 */
export function findCgroupRoot(folder: string): string | undefined {
  return [folder, join(folder, 'unified')].find(isCgroup2);
}

function isCgroup2(folder: string): boolean {
  try {
    return statfsSync(folder).type === cgroup2;
  } catch {
    return false;
  }
}

/** Finds the pod of a cgroup or process; undefined if there is none, or if it is gone. */
export interface PodResolver {
  /** @param id of a pod's cgroup or one below it */
  podOfCgroup(id: bigint): string | undefined;
  /** The runtime's id of the container to which such a cgroup belongs. */
  containerOfCgroup(id: bigint): string | undefined;
  podOfProcess(pid: number): string | undefined;
}

/** A scan costs some milliseconds: an id that was not found before causes another scan at most this often. */
const scanEveryMs = 1_000;
/** An id that was never looked for may belong to a cgroup that has just been created. */
const scanForNewEveryMs = 100;
const mostMissing = 4_096;
const mostKnown = 16_384;
/** A container can make cgroups of its own. */
const mostPerPod = 512;

/** @param root mount point of cgroup v2; undefined: no cgroup has a pod */
export function createPodResolver(root: string | undefined, now = () => performance.now()): PodResolver {
  let known = new Map<bigint, CgroupOwner>();
  const missing = new BoundedMap<bigint, true>(mostMissing);
  let scanned = Number.NEGATIVE_INFINITY;
  const scanFor = (id: bigint) => {
    const pause = missing.get(id) ? scanEveryMs : scanForNewEveryMs;
    if (root === undefined || now() - scanned < pause) return;
    scanned = now();
    known = merged(readTree(root), known);
    if (!known.has(id)) missing.set(id, true);
  };
  const ownerOf = (id: bigint) => {
    if (!known.has(id)) scanFor(id);
    return known.get(id);
  };
  return {
    podOfCgroup: (id) => ownerOf(id)?.uid,
    containerOfCgroup: (id) => ownerOf(id)?.container,
    podOfProcess,
  };
}

interface CgroupOwner {
  readonly uid: string;
  /** Id of the container; undefined for the pod's own cgroup. */
  readonly container: string | undefined;
}

/** Keeps cgroups that are gone: access events refer to them a little later. */
function merged(
  found: Map<bigint, CgroupOwner>,
  before: ReadonlyMap<bigint, CgroupOwner>,
): Map<bigint, CgroupOwner> {
  for (const [id, owner] of before) if (found.size < mostKnown && !found.has(id)) found.set(id, owner);
  return found;
}

function readTree(root: string): Map<bigint, CgroupOwner> {
  const found = new Map<bigint, CgroupOwner>();
  try {
    for (const pod of scanPodCgroups(root).pods) if (found.size < mostKnown) addPod(found, pod);
  } catch {
    // an event without a pod's name is better than none
  }
  return found;
}

/** Breadth first: the runtime's cgroups come before those that a container created within its own. */
function addPod(found: Map<bigint, CgroupOwner>, { uid, ...pod }: PodCgroup): void {
  const folders: (Folder & { readonly container?: string | undefined })[] = [pod];
  for (let index = 0; index < folders.length && index < mostPerPod; index++) {
    const folder = folders[index];
    if (folder === undefined) return;
    found.set(folder.id, { uid, container: folder.container });
    for (const below of foldersIn(folder.path, mostPerPod - folders.length)) {
      folders.push({
        ...below,
        container: index === 0 ? containerIdOf(below.path) : folder.container,
      });
    }
  }
}

/** `<id>` of the cgroupfs driver; `<runtime>-<id>.scope` of the systemd driver. */
const containerFolder = /^(?:[\w.-]+-)?([0-9a-f]{64})(?:\.scope)?$/;

/** @param path of a container's cgroup */
export const containerIdOf = (path: string): string | undefined => containerFolder.exec(basename(path))?.[1];

function podOfProcess(pid: number): string | undefined {
  try {
    return podUidOfProcess(readFileSync(`/proc/${pid}/cgroup`, 'utf8'));
  } catch {
    return undefined;
  }
}
