import { basename, join, relative } from 'node:path';
import { podUidOf } from '../../../core/kubernetes/pod-cgroup.ts';
import { type Folder, folderAt, foldersIn, namesIn } from './folders.ts';

/** The cgroup of a pod, in which those of its containers are. */
export interface PodCgroup extends Folder {
  /** The pod's UID; of a static pod the hash of its manifest. */
  readonly uid: string;
}

export interface PodCgroups {
  readonly pods: readonly PodCgroup[];
  /** The folders in which those of pods come and go. */
  readonly parents: readonly Folder[];
}

/** Of the cgroupfs and the systemd driver, which puts the names of the parents before it. */
const ofAllPods = /^(?:[\w.]+-)*kubepods(?:\.slice)?$/;
const ofServiceClass = /^(?:(?:[\w.]+-)*kubepods-)?(?:burstable|besteffort)(?:\.slice)?$/;

/**
 * The pods' cgroups of this node, whatever the kubelet's cgroup driver, and below whatever cgroup root it was given.
 * @param root where cgroup v2 is mounted
 * @throws Error when it cannot be read
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
