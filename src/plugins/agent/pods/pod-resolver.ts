import { readFileSync } from 'node:fs';
import { podUidOfProcess } from '../../../core/kubernetes/pod-cgroup.ts';
import { foldersIn } from './folders.ts';
import { type PodCgroup, scanPodCgroups } from './pod-cgroups.ts';

/** Says which pod something belongs to; undefined for what belongs to none, or is gone. */
export interface PodResolver {
  /** @param id of a pod's cgroup or one below it */
  podOfCgroup(id: bigint): string | undefined;
  podOfProcess(pid: number): string | undefined;
}

/** A scan costs some milliseconds: an id that was looked for in vain makes another one at most so often. */
const scanEveryMs = 1_000;
/** One that was never looked for may be of a cgroup that has just been made. */
const scanForNewEveryMs = 100;
const mostMissing = 4_096;
const mostKnown = 16_384;
/** A container can make cgroups of its own. */
const mostPerPod = 512;

/** @param root where cgroup v2 is mounted; undefined: no cgroup has a pod */
export function createPodResolver(root: string | undefined, now = () => performance.now()): PodResolver {
  let known = new Map<bigint, string>();
  const missing = new Set<bigint>();
  let scanned = Number.NEGATIVE_INFINITY;
  const scanFor = (id: bigint) => {
    const pause = missing.has(id) ? scanEveryMs : scanForNewEveryMs;
    if (root === undefined || now() - scanned < pause) return;
    scanned = now();
    known = merged(readTree(root), known);
    if (missing.size >= mostMissing) missing.clear();
    if (!known.has(id)) missing.add(id);
  };
  return {
    podOfCgroup(id) {
      if (!known.has(id)) scanFor(id);
      return known.get(id);
    },
    podOfProcess,
  };
}

/** What has gone since is still asked for: events come a little later. */
function merged(found: Map<bigint, string>, before: ReadonlyMap<bigint, string>): Map<bigint, string> {
  for (const [id, uid] of before) if (found.size < mostKnown && !found.has(id)) found.set(id, uid);
  return found;
}

function readTree(root: string): Map<bigint, string> {
  const found = new Map<bigint, string>();
  try {
    for (const pod of scanPodCgroups(root).pods) if (found.size < mostKnown) addPod(found, pod);
  } catch {
    // an event without a pod's name is better than none
  }
  return found;
}

/** Breadth first: what the runtime made comes before what a container made within it. */
function addPod(found: Map<bigint, string>, pod: PodCgroup): void {
  const folders = [pod as { readonly path: string; readonly id: bigint }];
  for (let index = 0; index < folders.length && index < mostPerPod; index++) {
    const folder = folders[index];
    if (folder === undefined) return;
    found.set(folder.id, pod.uid);
    if (folders.length < mostPerPod) folders.push(...foldersIn(folder.path));
  }
}

function podOfProcess(pid: number): string | undefined {
  try {
    return podUidOfProcess(readFileSync(`/proc/${pid}/cgroup`, 'utf8'));
  } catch {
    return undefined;
  }
}
